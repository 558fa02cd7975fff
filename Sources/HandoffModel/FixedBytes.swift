import HandoffJSON

/// An identifier with a fixed number of bytes, printed as lower-case hexadecimal.
package protocol FixedBytes: Hashable, Comparable, Sendable, TextValue {
    /// The number of bytes in every value.
    static var byteCount: Int { get }

    /// The bytes, of which there are exactly `byteCount`.
    var bytes: [UInt8] { get }

    /// Wraps bytes whose count has been checked. Only the initializers below call it.
    init(checked bytes: [UInt8])
}

extension FixedBytes {
    /// Returns nil if the number of bytes is not `byteCount`.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(checked: Array(bytes))
    }

    /// Parses hexadecimal in either case, with or without groups. Returns nil if it is not an
    /// identifier of this length.
    package init?(hex: String) {
        guard let bytes = Hex.decode(hex), bytes.count == Self.byteCount else { return nil }
        self.init(checked: bytes)
    }

    package init?(_ description: String) {
        self.init(hex: description)
    }

    /// Lower-case hexadecimal without groups, as used on sockets and in JSON.
    package var hex: String {
        Hex.encode(bytes)
    }

    /// Returns whether ``hex`` starts with these digits, without building that string.
    package func begins(with digits: [UInt8]) -> Bool {
        let bytes = bytes
        guard digits.count <= 2 * bytes.count else { return false }
        for (index, digit) in digits.enumerated() {
            let byte = bytes[index / 2]
            guard digit == Hex.digit(index.isMultiple(of: 2) ? byte >> 4 : byte & 0x0F) else { return false }
        }
        return true
    }

    /// The first seven digits, for display in lists.
    package var short: String {
        String(hex.prefix(7))
    }

    /// The prefix length, at least seven digits, at which all of the ids differ.
    package static func distinctLength(_ ids: some Sequence<Self>) -> Int {
        let all = Set(ids.map(\.hex))
        var length = 7
        while length < byteCount * 2, Set(all.map { $0.prefix(length) }).count < all.count { length += 1 }
        return length
    }

    /// Hexadecimal in groups of eight digits, for comparison by eye between two screens.
    package var grouped: String {
        stride(from: 0, to: bytes.count, by: 4)
            .map { Hex.encode(Array(bytes[$0..<min($0 + 4, bytes.count)])) }
            .joined(separator: "-")
    }

    package var description: String {
        hex
    }

    /// Feeds all bytes in one call. The array's own `hash` feeds them one by one, which took most
    /// of the time of device tables.
    package func hash(into hasher: inout Hasher) {
        bytes.hashBytes(into: &hasher)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
