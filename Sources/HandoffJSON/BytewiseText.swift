import Glibc

/// A string whose equality and hash use its UTF-8 bytes. It serves as a dictionary key.
package struct BytewiseText: Hashable, Sendable {
    package let text: String

    /// Wraps a string.
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
    /// Creates a string from bytes, or nil if they are not valid UTF-8. The generic
    /// `String(validating:as:)` takes several times as long for the short strings in messages.
    init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
        self.init(copying: text)
    }

    /// Creates a string from the contents of a JSON string without escapes. Returns nil if the
    /// bytes contain a backslash or a control character, or are not valid UTF-8.
    init?(plain bytes: UnsafeBufferPointer<UInt8>) {
        // No early exit, so that the compiler can vectorize the loop.
        var special: UInt8 = 0
        for byte in bytes { special |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0) }
        guard special == 0 else { return nil }
        self.init(utf8: bytes)
    }

    /// Returns whether both strings have the same UTF-8 bytes.
    ///
    /// `==` is canonical equivalence, which would merge two keys that differ only in composition.
    package func hasSameBytes(as other: String) -> Bool {
        // Most unequal strings differ in length, so their bytes need not be compared.
        guard utf8.count == other.utf8.count else { return false }
        return lendBytes { left in
            other.lendBytes { right in
                guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return true }
                return memcmp(leftBase, rightBase, left.count) == 0
            }
        }
    }

    /// Lends the UTF-8 bytes without the copy of the string that `withUTF8` requires. Native Swift
    /// strings always store them contiguously, and no other strings occur here.
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

    /// Returns whether the UTF-8 bytes of this string sort before those of `other`.
    package func precedesInBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension String? {
    /// Returns whether both strings have the same UTF-8 bytes, or both are nil.
    package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, _?), (_?, nil): false
        }
    }
}
