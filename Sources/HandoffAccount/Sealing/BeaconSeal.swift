package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// Makes and opens beacons: announcements for every member, in the TXT record of the service.
package enum BeaconSeal {
    /// Bytes of the announcement, zeros included.
    package static let bodyCount = BeaconText.sealedCount - Envelope.overhead - PublicKey.signatureCount

    /// Signs an announcement for the beacon under `label`; once for every change.
    package static func sign(
        _ announcement: Announcement, label: Label, key: SigningKey
    ) throws(CryptoError) -> [UInt8] {
        try text(label).sign(announcement.encode(capacity: bodyCount), key: key)
    }

    /// Seals what ``sign(_:label:key:)`` gave, as the strings of the TXT record.
    ///
    /// - Parameters:
    ///   - beaconKey: the `beacon` sub-key of the epoch.
    ///   - missing: what is shared with those that get a mark, at most 16.
    ///   - salt: 16 random bytes, new every time; given only by tests.
    package static func seal(
        _ signed: [UInt8], label: Label, beaconKey: SecretBytes, marking missing: [PairwiseKeys],
        salt: [UInt8] = Randomness.bytes(16)
    ) throws(CryptoError) -> [[UInt8]] {
        let sealed = try envelope(beaconKey).seal(signed, salt: salt, additionalData: additionalData(label))
        return BeaconText.strings(sealed, Marks(under: label, salt: salt, for: missing))
    }

    /// Opens the strings of a TXT record, found under `label`: shape, label, seal, layout, device, signature.
    ///
    /// - Parameter publicKey: the key of a device that is live in our roster, else nil.
    package static func open(
        _ strings: [[UInt8]], label: Label, labelKey: SecretBytes, beaconKey: SecretBytes,
        publicKey: (DeviceID) -> PublicKey?
    ) throws(SealError) -> Announcement {
        guard let sealed = BeaconText.sealed(in: strings) else { throw .shape }
        guard label.isMember(labelKey: labelKey) else { throw .foreignLabel }
        let opened = envelope(beaconKey).open(sealed[...], additionalData: [additionalData(label)])
        guard let opened else { throw .notGenuine }
        return try text(label).verify(opened) { publicKey($0.deviceID) }
    }

    private static func envelope(_ key: SecretBytes) -> Envelope {
        Envelope(purpose: "handoff/1 beacon key", key: key)
    }

    private static func text(_ label: Label) -> SignedText {
        SignedText(purpose: "handoff/1 beacon sig", context: label.bytes)
    }

    private static func additionalData(_ label: Label) -> [UInt8] {
        Array("handoff/1 beacon".utf8) + label.bytes
    }
}
