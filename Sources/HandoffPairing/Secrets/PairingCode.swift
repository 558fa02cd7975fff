internal import HandoffCrypto
internal import HandoffModel

/// The digits that a user reads on one device and types into the other.
package struct PairingCode: Sendable, Equatable {
    /// The digits as ASCII.
    let secret: SecretBytes

    /// Creates a random code. All codes are equally likely.
    package init() {
        var digits: [UInt8] = []
        digits.reserveCapacity(Limits.pairingCodeDigits)
        while digits.count < Limits.pairingCodeDigits {
            // Bytes from 250 up would make the digits 0 to 5 likelier than the others.
            for byte in Randomness.bytes(Limits.pairingCodeDigits)
            where byte < 250 && digits.count < Limits.pairingCodeDigits {
                digits.append(UInt8(ascii: "0") &+ byte % 10)
            }
        }
        secret = SecretBytes(wiping: &digits)
    }

    /// Parses typed text: ASCII digits. Spaces and dashes are ignored in any position.
    package init?(_ text: String) {
        var digits: [UInt8] = []
        digits.reserveCapacity(Limits.pairingCodeDigits)
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: " "), UInt8(ascii: "-"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9") where digits.count < Limits.pairingCodeDigits:
                digits.append(character)
            default: return nil
            }
        }
        guard digits.count == Limits.pairingCodeDigits else { return nil }
        secret = SecretBytes(wiping: &digits)
    }

    /// The digits without spaces, for display. Never log them.
    package var digits: String {
        secret.withSpan { span in
            var text = ""
            for index in span.indices { text.unicodeScalars.append(Unicode.Scalar(span[index])) }
            return text
        }
    }
}

extension PairingCode: CustomStringConvertible {
    package var description: String { "<secret code>" }
}
