import Glibc

/// A text that is equal to another only when their UTF-8 bytes are: the key type for dictionaries of such texts.
package struct BytewiseText: Hashable, Sendable {
    /// The text itself.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: BytewiseText, right: BytewiseText) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}

extension String {
    /// The text of bytes, or nil when they are not UTF-8: `String(validating:as:)`, whose generic way takes several times as long for
    /// the short texts of messages.
    init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
        self.init(copying: text)
    }

    /// The text of bytes of a string in JSON that mean themselves; nil when one of them is part of an escape, or no string may
    /// have it, or they are not UTF-8.
    init?(plain bytes: UnsafeBufferPointer<UInt8>) {
        // No early exit, so that the compiler can look at many bytes at once.
        var special: UInt8 = 0
        for byte in bytes { special |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0) }
        guard special == 0 else { return nil }
        self.init(utf8: bytes)
    }

    /// Whether both texts are the same UTF-8 bytes.
    ///
    /// `==` is canonical equivalence, which would make one key of two that differ only in composition.
    package func hasSameBytes(as other: String) -> Bool {
        // Most texts that differ differ in length, which needs no look at the bytes.
        guard utf8.count == other.utf8.count else { return false }
        return lendBytes { left in
            other.lendBytes { right in
                guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return true }
                return memcmp(leftBase, rightBase, left.count) == 0
            }
        }
    }

    /// Lends the UTF-8 bytes, without the copy of the text that `withUTF8` needs. Texts of Swift always have them in one piece;
    /// of others there are none here.
    @inline(__always)
    func lendBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }

    /// Feeds the UTF-8 bytes, and a terminator that no UTF-8 text contains, to a hasher.
    package func hashBytes(into hasher: inout Hasher) {
        lendBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    /// Whether the UTF-8 bytes of this text sort before those of the other.
    package func precedesInBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension String? {
    /// Whether both texts are the same UTF-8 bytes, or both are missing.
    package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, _?), (_?, nil): false
        }
    }
}
