/// Base64 (RFC 4648 section 4) with padding. Each sequence of bytes has one canonical text.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    /// The value of each character; 0xFF for characters outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// Encodes bytes without line breaks.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var position = 0
        while position < bytes.count {
            let second = position + 1 < bytes.count ? bytes[position + 1] : nil
            let third = position + 2 < bytes.count ? bytes[position + 2] : nil
            let group = UInt32(bytes[position]) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
            text.append(alphabet[Int(group >> 18 & 0x3F)])
            text.append(alphabet[Int(group >> 12 & 0x3F)])
            text.append(second == nil ? padding : alphabet[Int(group >> 6 & 0x3F)])
            text.append(third == nil ? padding : alphabet[Int(group & 0x3F)])
            position += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text. Returns nil for anything that `encode` does not produce.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3)
        return walk(text.utf8[...]) { bytes.append($0) } ? bytes : nil
    }

    /// Returns whether `decode` accepts the text. It is much faster and does not store the bytes.
    package static func isValid(_ text: String) -> Bool {
        let count = text.utf8.count
        guard count.isMultiple(of: 4) else { return false }
        guard count > 0 else { return true }
        // All groups but the last contain only digits. No early exit, so that the compiler can
        // vectorize the loop.
        let characters = text.utf8.span
        var areDigits = true
        for position in 0..<(count - 4) { areDigits = isDigit(characters[position]) && areDigits }
        return areDigits && walk(text.utf8.suffix(4)) { _ in }
    }

    private static func isDigit(_ character: UInt8) -> Bool {
        let isLetter = (character | 0x20) &- UInt8(ascii: "a") < 26
        let isNumber = character &- UInt8(ascii: "0") < 10
        let isSign = character == UInt8(ascii: "+") || character == UInt8(ascii: "/")
        return isLetter || isNumber || isSign
    }

    private static func walk(_ text: Substring.UTF8View, take: (UInt8) -> Void) -> Bool {
        guard text.count.isMultiple(of: 4) else { return false }
        var pending: UInt32 = 0
        var digits = 0
        var paddings = 0
        for character in text {
            if character == padding {
                paddings += 1
                continue
            }
            let value = values[Int(character)]
            guard value != 0xFF, paddings == 0 else { return false }
            pending = pending << 6 | UInt32(value)
            digits += 1
            guard digits.isMultiple(of: 4) else { continue }
            take(UInt8(truncatingIfNeeded: pending >> 16))
            take(UInt8(truncatingIfNeeded: pending >> 8))
            take(UInt8(truncatingIfNeeded: pending))
            pending = 0
        }
        // The unused bits of the last digit must be clear.
        switch (digits % 4, paddings) {
        case (0, 0):
            return true
        case (2, 2) where pending & 0x0F == 0:
            take(UInt8(truncatingIfNeeded: pending >> 4))
            return true
        case (3, 1) where pending & 0x03 == 0:
            take(UInt8(truncatingIfNeeded: pending >> 10))
            take(UInt8(truncatingIfNeeded: pending >> 2))
            return true
        default:
            return false
        }
    }
}
