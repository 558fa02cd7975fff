/// Base 32 of RFC 4648 section 6, in lower case and without padding: fits in DNS labels, which ignore case.
package enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The digits of bytes: 16 bytes are 26 digits.
    package static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.count * 8 + 4) / 5)
        // At most 4 bits wait between bytes, so 12 are held at most.
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

    /// The bytes of digits in either case; nil for other characters, for a length that no encoder makes, and when
    /// bits that stand for nothing are set (so that bytes have one text).
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
