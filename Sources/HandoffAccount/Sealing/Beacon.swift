package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The strings of a beacon's TXT record: `v=1`, then `b0=`, `b1=`, `b2=` with 228 bytes each, then `m=` with the marks.
///
/// With their length bytes that is 943 bytes always, far below the 1,300 that mDNS delivers, and no string is above
/// the 250 that every DNS library takes.
package enum BeaconText {
    /// Bytes of the sealed beacon, salt and tag included.
    package static let sealedCount = partCount * partLength

    /// Bytes of the record's data: every string with its length byte.
    package static let recordCount =
        1 + version.count + partCount * (1 + 3 + partLength) + 1 + marksKey.count + Marks.byteCount

    private static let version = Array("v=1".utf8)
    private static let marksKey = Array("m=".utf8)
    private static let partCount = 3
    private static let partLength = 228

    /// Cuts a sealed beacon of exactly ``sealedCount`` bytes into strings.
    static func strings(_ sealed: [UInt8], _ marks: Marks) -> [[UInt8]] {
        precondition(sealed.count == sealedCount, "a beacon of \(sealed.count) bytes")
        return [version]
            + (0..<partCount).map { part in
                key(part) + sealed[(part * partLength)..<((part + 1) * partLength)]
            }
            + [marksKey + marks.bytes]
    }

    /// Joins the strings of a record, in whatever order they arrive; nil when the version is unknown, or a part is
    /// missing, doubled or of another size. Strings with other keys are left to later versions.
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

    /// The marks of a record and the salt that they were made with. They are outside of the sealed beacon: who looks for one has
    /// no key to open that. Nil when the record is no beacon, or the marks are missing, doubled or of another size.
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

/// Makes and opens beacons: announcements for every member, in the TXT record of the service.
package enum BeaconSeal {
    /// Bytes of what is signed: period, address tags, and the announcement with its zeros.
    package static let bodyCount = BeaconText.sealedCount - Envelope.overhead - PublicKey.signatureCount

    /// Bytes of the announcement, zeros included.
    package static let announcementCount = bodyCount - headCount

    /// Addresses that a beacon can name.
    package static let maxAddresses = 16

    private static let periodCount = 4
    private static let tagCount = 4
    private static let headCount = periodCount + maxAddresses * tagCount

    /// Signs an announcement for one beacon under `label`.
    ///
    /// - Parameters:
    ///   - period: the one of this device's clock now.
    ///   - addresses: the addresses of the service's records, 4 or 16 bytes each, the most useful ones first; beyond 16 they are left
    ///     out, and no reader uses them.
    ///   - padding: random bytes in the places that are left; given only by tests.
    package static func sign(
        _ announcement: Announcement, period: Period, addresses: [[UInt8]], label: Label, beaconKey: SecretBytes,
        key: SigningKey, padding: [UInt8] = Randomness.bytes(maxAddresses * tagCount)
    ) throws(CryptoError) -> [UInt8] {
        let named = addresses.prefix(maxAddresses).flatMap { tag(of: $0, under: label, beaconKey: beaconKey) }
        let tags = named + padding.dropFirst(named.count)
        return try text(label).sign(
            period.number.bigEndianBytes + tags + announcement.encode(capacity: announcementCount), key: key)
    }

    /// Seals what ``sign(_:period:addresses:label:beaconKey:key:padding:)`` gave, as the strings of the TXT record.
    ///
    /// - Parameters:
    ///   - beaconKey: the `beacon` sub-key of the epoch.
    ///   - places: the marks beside it, at most 30.
    ///   - salt: 16 random bytes, new every time.
    package static func seal(
        _ signed: [UInt8], label: Label, beaconKey: SecretBytes, marking places: [Marks.Place], salt: [UInt8]
    ) throws(CryptoError) -> [[UInt8]] {
        let sealed = try envelope(beaconKey).seal(signed, salt: salt, additionalData: additionalData(label))
        return BeaconText.strings(sealed, Marks(under: label, salt: salt, for: places))
    }

    /// A record with marks of a device that has no account key yet: random bytes in the place of the sealed beacon.
    package static func cover(label: Label, marking places: [Marks.Place], salt: [UInt8]) -> [[UInt8]] {
        let random = Randomness.bytes(BeaconText.sealedCount - salt.count)
        return BeaconText.strings(salt + random, Marks(under: label, salt: salt, for: places))
    }

    /// Opens the strings of a TXT record, found under `label`: shape, label, seal, layout, device, signature. Whether it is fresh, and
    /// which addresses it names, is for the caller to judge.
    ///
    /// - Parameter labelKey: the `label` sub-key of the epoch; nil for a label that is known as a live member's.
    /// - Parameter publicKey: the key of a device that is live in our roster, else nil.
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

    /// The live device that has signed a beacon in the layout of a former version of this protocol, without period and addresses: a
    /// beacon that ``open(_:label:labelKey:beaconKey:publicKey:)`` refuses as malformed. Nil if it is not one.
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

    /// The tag of one address: the tags of others, and of other labels, are no help to guess it.
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

/// A beacon that its device has signed. It may be an old one that another host repeats, with other addresses.
package struct OpenedBeacon: Sendable {
    /// The announcement of the device.
    package let announcement: Announcement
    /// When it was sealed, by the device's clock.
    package let period: Period
    /// The salt of the record.
    package let salt: [UInt8]

    fileprivate let label: Label
    fileprivate let beaconKey: SecretBytes
    fileprivate let tags: [[UInt8]]

    /// True if the device has put this address, of 4 or 16 bytes, into its records.
    package func names(_ address: [UInt8]) -> Bool {
        tags.contains(BeaconSeal.tag(of: address, under: label, beaconKey: beaconKey))
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Its bytes, the most significant first.
    var bigEndianBytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}
