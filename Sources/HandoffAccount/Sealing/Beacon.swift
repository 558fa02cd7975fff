package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The strings of a beacon's TXT record: `v=1`, then `b0=`, `b1=`, `b2=` with 228 bytes each, then `m=` with the marks.
///
/// With their length bytes that is 831 bytes always, far below the 1,300 that mDNS delivers, and no string is above
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
    /// - Parameter labelKey: the `label` sub-key of the epoch; nil for a label that is known as a live member's.
    /// - Parameter publicKey: the key of a device that is live in our roster, else nil.
    package static func open(
        _ strings: [[UInt8]], label: Label, labelKey: SecretBytes?, beaconKey: SecretBytes,
        publicKey: (DeviceID) -> PublicKey?
    ) throws(SealError) -> Announcement {
        guard let sealed = BeaconText.sealed(in: strings) else { throw .shape }
        if let labelKey, !label.isMember(labelKey: labelKey) { throw .foreignLabel }
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

/// The marks beside a beacon: one for each member that the device misses and for each open ticket, and random bytes in all
/// other places, so that nobody can tell how many those are.
package struct Marks: Sendable, Equatable {
    /// Bytes of one mark.
    package static let markCount = 8
    /// Places for marks.
    package static let places = 16
    /// Bytes of all.
    package static let byteCount = markCount * places

    /// The bytes as they stand in the TXT record.
    package let bytes: [UInt8]

    /// Marks as they were found; nil unless there are exactly 128 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Marks for one beacon. All their bytes are other ones in the next beacon, so that nobody learns how many are marks.
    ///
    /// - Parameters:
    ///   - salt: that of the beacon.
    ///   - missing: the keys shared with those that are missed; beyond 16 they find no place.
    package init(under label: Label, salt: [UInt8], for missing: [PairwiseKeys]) {
        var places = missing.prefix(Self.places).map { $0.mark(under: label, salt: salt) }
        while places.count < Self.places { places.append(Randomness.bytes(Self.markCount)) }
        bytes = places.shuffled().flatMap(\.self)
    }

    /// Whether one of them is `mark`. Compares in plain time: everybody on the link can read both.
    package func contains(_ mark: [UInt8]) -> Bool {
        stride(from: 0, to: bytes.count, by: Self.markCount).contains { start in
            bytes[start..<(start + Self.markCount)].elementsEqual(mark)
        }
    }
}
