package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The strings of a beacon's TXT record: `v=1`, then `b0=`, `b1=`, `b2=` with 228 bytes each, then
/// `m=` with the marks.
///
/// With their length bytes this is always 943 bytes, far below the 1,300 that mDNS delivers. No
/// string exceeds the 250 bytes that every DNS library accepts.
package enum BeaconText {
    /// Size of the sealed beacon in bytes, including salt and tag.
    static let sealedCount = partCount * partLength

    /// Size of the record data in bytes: every string with its length byte.
    package static let recordCount =
        1 + version.count + partCount * (1 + 3 + partLength) + 1 + marksKey.count + Marks.byteCount

    private static let version = Array("v=1".utf8)
    private static let marksKey = Array("m=".utf8)
    private static let partCount = 3
    private static let partLength = 228

    /// Splits a sealed beacon of exactly ``sealedCount`` bytes into strings.
    static func strings(_ sealed: [UInt8], _ marks: Marks) -> [[UInt8]] {
        precondition(sealed.count == sealedCount, "a beacon of \(sealed.count) bytes")
        return [version]
            + (0..<partCount).map { part in
                key(part) + sealed[(part * partLength)..<((part + 1) * partLength)]
            }
            + [marksKey + marks.bytes]
    }

    /// Joins the strings of a record in any order. Returns nil if the version is unknown, or if a
    /// part is missing, duplicated or has the wrong size. Strings with other keys are ignored, for
    /// later versions.
    static func sealed(in strings: [[UInt8]]) -> [UInt8]? {
        guard isOurs(strings) else { return nil }
        var sealed: [UInt8] = []
        for part in 0..<partCount {
            let found = strings.filter { $0.starts(with: key(part)) }
            guard found.count == 1, let string = found.first, string.count == 3 + partLength else { return nil }
            sealed += string.dropFirst(3)
        }
        return sealed
    }

    /// The marks of a record and the salt that they were made with. They are outside the sealed
    /// beacon, because their reader has no key to open it. Nil if the record is not a beacon, or if
    /// the marks are missing, duplicated or have the wrong size.
    package static func marks(in strings: [[UInt8]]) -> (marks: Marks, salt: [UInt8])? {
        guard let sealed = sealed(in: strings) else { return nil }
        let found = strings.filter { $0.starts(with: marksKey) }
        guard found.count == 1, let marks = found.first.flatMap({ Marks(bytes: $0.dropFirst(marksKey.count)) }) else {
            return nil
        }
        return (marks, Array(sealed.prefix(Envelope.saltCount)))
    }

    private static func isOurs(_ strings: [[UInt8]]) -> Bool {
        strings.filter { $0.starts(with: Array("v=".utf8)) } == [version]
    }

    private static func key(_ part: Int) -> [UInt8] {
        Array("b\(part)=".utf8)
    }
}

/// Seals and opens beacons: announcements to all members in the TXT record of the service.
package enum BeaconSeal {
    /// Size of the signed body in bytes: period, address tags, and the zero-padded announcement.
    package static let bodyCount = BeaconText.sealedCount - Envelope.overhead - PublicKey.signatureCount

    /// Size of the announcement in bytes, including its zero padding.
    static let announcementCount = bodyCount - headCount

    /// Maximum number of addresses that a beacon can name.
    package static let maxAddresses = 16

    private static let periodCount = 4
    private static let tagCount = 4
    private static let headCount = periodCount + maxAddresses * tagCount

    /// Signs an announcement for one beacon under `label`.
    ///
    /// - Parameters:
    ///   - period: the current period of this device's clock.
    ///   - addresses: the addresses of the service's records, 4 or 16 bytes each, the most useful
    ///     ones first. Those after the 16th are omitted, and readers do not use them.
    ///   - padding: random bytes for the unused tags. Only tests pass it.
    package static func sign(
        _ announcement: Announcement, period: Period, addresses: [[UInt8]], label: Label, beaconKey: SecretBytes,
        key: SigningKey, padding: [UInt8] = Randomness.bytes(maxAddresses * tagCount)
    ) throws(CryptoError) -> [UInt8] {
        let named = addresses.prefix(maxAddresses).flatMap { tag(of: $0, under: label, beaconKey: beaconKey) }
        let tags = named + padding.dropFirst(named.count)
        return try text(label).sign(
            period.number.bigEndianBytes + tags + announcement.encode(capacity: announcementCount), key: key)
    }

    /// Seals the result of ``sign(_:period:addresses:label:beaconKey:key:padding:)`` as the strings
    /// of the TXT record.
    ///
    /// - Parameters:
    ///   - beaconKey: the `beacon` sub-key of the epoch.
    ///   - places: the marks to add, at most 30.
    ///   - salt: 16 random bytes, different for every record.
    package static func seal(
        _ signed: [UInt8], label: Label, beaconKey: SecretBytes, marking places: [Marks.Place], salt: [UInt8]
    ) throws(CryptoError) -> [[UInt8]] {
        let sealed = try envelope(beaconKey).seal(signed, salt: salt, additionalData: additionalData(label))
        return BeaconText.strings(sealed, Marks(under: label, salt: salt, for: places))
    }

    /// A record with the marks of a device that has no account key yet. Random bytes replace the
    /// sealed beacon.
    package static func cover(label: Label, marking places: [Marks.Place], salt: [UInt8]) -> [[UInt8]] {
        let random = Randomness.bytes(BeaconText.sealedCount - salt.count)
        return BeaconText.strings(salt + random, Marks(under: label, salt: salt, for: places))
    }

    /// Opens the strings of a TXT record with the label `label`. Checks shape, label, seal, layout,
    /// device and signature. The caller checks whether the beacon is fresh and which addresses it
    /// names.
    ///
    /// - Parameter labelKey: the `label` sub-key of the epoch, or nil for a label known to be a
    ///   live member's.
    /// - Parameter publicKey: returns the key of a device that is live in our roster, otherwise
    ///   nil.
    package static func open(
        _ strings: [[UInt8]], label: Label, labelKey: SecretBytes?, beaconKey: SecretBytes,
        publicKey: (DeviceID) -> PublicKey?
    ) throws(SealError) -> OpenedBeacon {
        let (salt, opened) = try unseal(strings, label, labelKey, beaconKey)
        let announcement = try text(label).verify(opened, behind: headCount) { publicKey($0.deviceID) }
        var reader = ByteReader(opened)
        do throws(ByteError) {
            let period = Period(number: try reader.u32())
            let tags = try (0..<maxAddresses).map { _ throws(ByteError) in try reader.bytes(tagCount) }
            return OpenedBeacon(
                announcement: announcement, period: period, salt: salt, label: label, beaconKey: beaconKey, tags: tags)
        } catch {
            throw .malformed
        }
    }

    /// The live device that signed a beacon in the layout of an earlier protocol version, without
    /// period and addresses. ``open(_:label:labelKey:beaconKey:publicKey:)`` rejects such a beacon
    /// as malformed. Nil for other beacons.
    package static func formerAuthor(
        _ strings: [[UInt8]], label: Label, labelKey: SecretBytes, beaconKey: SecretBytes,
        publicKey: (DeviceID) -> PublicKey?
    ) -> DeviceID? {
        guard let (_, opened) = try? unseal(strings, label, labelKey, beaconKey) else { return nil }
        return try? text(label).verify(opened) { publicKey($0.deviceID) }.deviceID
    }

    private static func unseal(
        _ strings: [[UInt8]], _ label: Label, _ labelKey: SecretBytes?, _ beaconKey: SecretBytes
    ) throws(SealError) -> (salt: [UInt8], plaintext: [UInt8]) {
        guard let sealed = BeaconText.sealed(in: strings) else { throw .shape }
        if let labelKey, !label.isMember(labelKey: labelKey) { throw .foreignLabel }
        let opened = envelope(beaconKey).open(sealed[...], additionalData: [additionalData(label)])
        guard let opened else { throw .notGenuine }
        return (Array(sealed.prefix(Envelope.saltCount)), opened)
    }

    /// The tag of one address. Tags of other addresses or labels do not help to guess it.
    fileprivate static func tag(of address: [UInt8], under label: Label, beaconKey: SecretBytes) -> [UInt8] {
        let code = HMACSHA256.authenticate(
            [Array("address".utf8)[...], label.bytes[...], address[...]], key: beaconKey)
        return Array(code.prefix(tagCount))
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

/// A beacon signed by its device. It may be an old one that another host replays with other
/// addresses.
package struct OpenedBeacon: Sendable {
    /// The announcement of the device.
    package let announcement: Announcement
    /// The period in which it was sealed, by the device's clock.
    package let period: Period
    /// The salt of the record.
    package let salt: [UInt8]

    fileprivate let label: Label
    fileprivate let beaconKey: SecretBytes
    fileprivate let tags: [[UInt8]]

    /// Returns whether the device put this address, of 4 or 16 bytes, into its records.
    package func names(_ address: [UInt8]) -> Bool {
        tags.contains(BeaconSeal.tag(of: address, under: label, beaconKey: beaconKey))
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The bytes of the integer, most significant first.
    var bigEndianBytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}
