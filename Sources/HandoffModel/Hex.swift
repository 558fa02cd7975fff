import HandoffJSON

/// Hexadecimal encoding, as used for ids.
package enum Hex {
    /// Returns two lower-case digits per byte.
    package static func encode(_ bytes: [UInt8]) -> String {
        bytes.hexadecimal
    }

    /// Decodes digits in either case and ignores spaces, `-` and `:` between them. Returns nil for
    /// any other character or an odd number of digits.
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

    /// Returns the lower-case digit of a value below 16.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// The text of a UUID (RFC 9562 section 4): 8-4-4-4-12 hexadecimal digits.
package enum UUIDText {
    private static let groups = [4, 2, 2, 2, 6]

    /// Returns upper case, as Foundation does. Pass 16 bytes: extra bytes are dropped and missing
    /// ones are omitted.
    package static func encode(_ bytes: [UInt8]) -> String {
        var rest = bytes[...]
        return groups.map { count in
            defer { rest = rest.dropFirst(count) }
            return Hex.encode(Array(rest.prefix(count))).uppercased()
        }.joined(separator: "-")
    }

    /// Returns the 16 bytes, or nil unless the text has exactly this form, in either case.
    package static func decode(_ text: String) -> [UInt8]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == groups.map({ $0 * 2 }) else { return nil }
        // The lengths exclude everything that Hex.decode ignores, except a space or colon in place
        // of a digit. Then bytes are missing.
        guard let bytes = Hex.decode(text), bytes.count == 16 else { return nil }
        return bytes
    }
}
