package import HandoffCrypto
package import HandoffProtocol

extension Label {
    /// Number of leading random bytes. The rest lets members recognise the label as one of their
    /// account.
    private static let randomCount = 8

    /// A label under the `label` sub-key of an epoch. A new one is created for every start,
    /// network, epoch and quarter of an hour.
    package static func random(labelKey: SecretBytes) -> Label {
        let random = Randomness.bytes(randomCount)
        return checked(random + code(random[...], labelKey))
    }

    /// The label with the given 8 random bytes, or nil for any other number of bytes. For test
    /// vectors.
    package init?(random: [UInt8], labelKey: SecretBytes) {
        guard random.count == Self.randomCount else { return nil }
        self = Self.checked(random + Self.code(random[...], labelKey))
    }

    /// Returns whether the label was created with the `label` sub-key. Needs one HMAC, no table and
    /// no clock.
    package func isMember(labelKey: SecretBytes) -> Bool {
        ConstantTime.equal(Self.code(bytes.prefix(Self.randomCount), labelKey), Array(bytes.suffix(8)))
    }

    /// A label of 16 bytes.
    static func checked(_ bytes: [UInt8]) -> Label {
        // All callers build 16 bytes: 8 random bytes and a code of 8, or 8 letters and a number of
        // 8.
        guard let label = Label(bytes: bytes) else { preconditionFailure("a label of \(bytes.count) bytes") }
        return label
    }

    private static func code(_ random: ArraySlice<UInt8>, _ key: SecretBytes) -> [UInt8] {
        Array(HMACSHA256.authenticate([Array("label".utf8)[...], random], key: key).prefix(byteCount - randomCount))
    }
}
