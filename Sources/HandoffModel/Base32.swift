/// Base32 (RFC 4648 section 6) in lower case and without padding. It fits in DNS labels, which
/// ignore case.
package enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Encodes bytes; 16 bytes give 26 digits.
    package static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.count * 8 + 4) / 5)
        // At most 4 bits are pending between bytes, so at most 12 are held.
        var pending: UInt16 = 0
        var pendingBits: UInt16 = 0
        for byte in bytes {
            pending = (pending << 8 | UInt16(byte)) & 0x0FFF
            pendingBits += 8
            while pendingBits >= 5 {
                pendingBits -= 5
                digits.append(alphabet[Int(pending >> pendingBits & 0x1F)])
            }
        }
        if pendingBits > 0 {
            digits.append(alphabet[Int(pending << (5 - pendingBits) & 0x1F)])
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Decodes digits in either case. Returns nil for other characters, for a length that no
    /// encoder produces, and if unused bits are set, so that each sequence of bytes has one text.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt16 = 0
        var pendingBits: UInt16 = 0
        for character in text.utf8 {
            let value: UInt8
            switch character {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a")
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
            default: return nil
            }
            pending = (pending << 5 | UInt16(value)) & 0x0FFF
            pendingBits += 5
            if pendingBits >= 8 {
                pendingBits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
            }
        }
        guard pendingBits < 5, pending & (1 << pendingBits - 1) == 0 else { return nil }
        return bytes
    }
}
