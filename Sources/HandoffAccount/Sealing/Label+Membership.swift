package import HandoffCrypto
package import HandoffProtocol

extension Label {
    /// Random bytes in front; the rest tells members that the label is one of theirs.
    private static let randomCount = 8

    /// A label under the `label` sub-key of an epoch, new for every start, network, epoch and quarter of an hour.
    package static func random(labelKey: SecretBytes) -> Label {
        let random = Randomness.bytes(randomCount)
        return checked(random + code(random[...], labelKey))
    }

    /// The label with the given 8 random bytes; nil for another number. For test vectors.
    package init?(random: [UInt8], labelKey: SecretBytes) {
        guard random.count == Self.randomCount else { return nil }
        self = Self.checked(random + Self.code(random[...], labelKey))
    }

    /// True when the label was made with the `label` sub-key: one HMAC, no table, no clock.
    package func isMember(labelKey: SecretBytes) -> Bool {
        ConstantTime.equal(Self.code(bytes.prefix(Self.randomCount), labelKey), Array(bytes.suffix(8)))
    }

    /// A label of bytes that are 16 by construction.
    static func checked(_ bytes: [UInt8]) -> Label {
        // Both callers make the bytes themselves: 8 random ones and a code of 8, or 8 letters and a number of 8.
        guard let label = Label(bytes: bytes) else { preconditionFailure("a label of \(bytes.count) bytes") }
        return label
    }

    private static func code(_ random: ArraySlice<UInt8>, _ key: SecretBytes) -> [UInt8] {
        Array(HMACSHA256.authenticate([Array("label".utf8)[...], random], key: key).prefix(byteCount - randomCount))
    }
}
