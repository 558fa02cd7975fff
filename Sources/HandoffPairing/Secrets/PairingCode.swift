internal import HandoffCrypto

/// The eight digits that a user reads on one device and types into the other.
package struct PairingCode: Sendable, Equatable {
    /// The number of digits in a code.
    package static let digitCount = 8

    /// The digits as ASCII.
    let secret: SecretBytes

    /// Creates a random code. All 10^8 codes are equally likely.
    package init() {
        var digits: [UInt8] = []
        digits.reserveCapacity(Self.digitCount)
        while digits.count < Self.digitCount {
            // Bytes from 250 up would make the digits 0 to 5 likelier than the others.
            for byte in Randomness.bytes(Self.digitCount) where byte < 250 && digits.count < Self.digitCount {
                digits.append(UInt8(ascii: "0") &+ byte % 10)
            }
        }
        secret = SecretBytes(wiping: &digits)
    }

    /// Parses typed text: eight ASCII digits. Spaces and dashes are ignored in any position.
    package init?(_ text: String) {
        var digits: [UInt8] = []
        digits.reserveCapacity(Self.digitCount)
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: " "), UInt8(ascii: "-"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9") where digits.count < Self.digitCount: digits.append(character)
            default: return nil
            }
        }
        guard digits.count == Self.digitCount else { return nil }
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

    /// The digits grouped for display: `1234 5678`.
    package var grouped: String {
        digits.prefix(Self.digitCount / 2) + " " + digits.suffix(Self.digitCount / 2)
    }
}

extension PairingCode: CustomStringConvertible {
    package var description: String { "<secret code>" }
}
