import HandoffJSON

/// An identifier that is a fixed number of bytes, printed as lower-case hexadecimal.
package protocol FixedBytes: Hashable, Comparable, Sendable, TextValue {
    /// How many bytes every value has.
    static var byteCount: Int { get }

    /// The bytes, exactly `byteCount` of them.
    var bytes: [UInt8] { get }

    /// Wraps bytes whose number was checked; only for the initialisers below.
    init(checked bytes: [UInt8])
}

extension FixedBytes {
    /// Nil when the number of bytes is wrong.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(checked: Array(bytes))
    }

    /// Reads hexadecimal, in either case and with or without groups; nil when it is no identifier of this length.
    package init?(hex: String) {
        guard let bytes = Hex.decode(hex), bytes.count == Self.byteCount else { return nil }
        self.init(checked: bytes)
    }

    package init?(_ description: String) {
        self.init(hex: description)
    }

    /// Lower-case hexadecimal without groups: the form on sockets and in JSON.
    package var hex: String {
        Hex.encode(bytes)
    }

    /// Whether ``hex`` begins with these digits, which are not made for that.
    package func begins(with digits: [UInt8]) -> Bool {
        let bytes = bytes
        guard digits.count <= 2 * bytes.count else { return false }
        for (index, digit) in digits.enumerated() {
            let byte = bytes[index / 2]
            guard digit == Hex.digit(index.isMultiple(of: 2) ? byte >> 4 : byte & 0x0F) else { return false }
        }
        return true
    }

    /// The first seven digits, for lists that people read.
    package var short: String {
        String(hex.prefix(7))
    }

    /// How long the beginnings of these ids must be so that all of them differ; at least seven digits.
    package static func distinctLength(_ ids: some Sequence<Self>) -> Int {
        let all = Set(ids.map(\.hex))
        var length = 7
        while length < byteCount * 2, Set(all.map { $0.prefix(length) }).count < all.count { length += 1 }
        return length
    }

    /// Hexadecimal in groups of eight digits, for people who compare two screens.
    package var grouped: String {
        stride(from: 0, to: bytes.count, by: 4)
            .map { Hex.encode(Array(bytes[$0..<min($0 + 4, bytes.count)])) }
            .joined(separator: "-")
    }

    package var description: String {
        hex
    }

    /// All bytes at once: the array's own takes them one by one, which tables of devices spend most of their time on.
    package func hash(into hasher: inout Hasher) {
        bytes.hashBytes(into: &hasher)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
