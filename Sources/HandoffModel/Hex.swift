import HandoffJSON

/// Hexadecimal, as ids are written.
package enum Hex {
    /// Lower-case digits, two for each byte.
    package static func encode(_ bytes: [UInt8]) -> String {
        bytes.hexadecimal
    }

    /// The bytes of digits in either case; spaces, `-` and `:` between digits are ignored. Nil when anything else
    /// occurs, or when half a byte is left.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            let value: UInt8
            switch character {
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: ":"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = character - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let upper = high {
                bytes.append(upper << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    /// The lower-case digit of a value below 16.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// The text of a UUID (RFC 9562 section 4): 8-4-4-4-12 hexadecimal digits.
package enum UUIDText {
    private static let groups = [4, 2, 2, 2, 6]

    /// Upper case, as Foundation prints it; the bytes must be 16, others are left out or missing.
    package static func encode(_ bytes: [UInt8]) -> String {
        var rest = bytes[...]
        return groups.map { count in
            defer { rest = rest.dropFirst(count) }
            return Hex.encode(Array(rest.prefix(count))).uppercased()
        }.joined(separator: "-")
    }

    /// The 16 bytes; nil unless the text has exactly this form, in either case.
    package static func decode(_ text: String) -> [UInt8]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == groups.map({ $0 * 2 }) else { return nil }
        // The lengths leave no room for what Hex.decode would ignore, except a space or colon: then bytes are missing.
        guard let bytes = Hex.decode(text), bytes.count == 16 else { return nil }
        return bytes
    }
}
