import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

/// The account of the worked example in docs/protocol.md. All its numbers are fixed.
struct SealingSamples {
    let accountKey = SecretBytes(copying: Array(0x00...0x1F))
    let accountID: AccountID
    let keys: EpochKeys
    /// Sender and receiver, with their labels.
    let keyA: SigningKey
    let keyB: SigningKey
    let labelA: Label
    let labelB: Label
    let announcement: Announcement

    init() throws {
        accountID = try #require(AccountID(bytes: 0x20...0x2F))
        keys = try EpochKeys(accountKey: accountKey, accountID: accountID)
        keyA = try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 0xA1, count: 32)))
        keyB = try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 0xB2, count: 32)))
        labelA = try #require(Label(random: Array(0x30...0x37), labelKey: keys.label))
        labelB = try #require(Label(random: Array(0x40...0x47), labelKey: keys.label))
        announcement = try Self.announcement(by: keyA, seq: 5)
    }

    static func announcement(by key: SigningKey, seq: UInt32, activities: Int = 2) throws -> Announcement {
        let first = ActivitySummary(
            id: try #require(ActivityID(bytes: 0x50...0x5F)),
            type: try #require(ActivityType("com.example.notes.edit")),
            title: "Café list", team: "TEAM42", supportsStreams: true, hasWebpageURL: true, age: 12)
        let others = try (1..<max(activities, 1)).map {
            ActivitySummary(
                id: try #require(ActivityID(bytes: [UInt8](repeating: UInt8($0), count: 16))), type: .browsingWeb,
                title: nil, team: nil, supportsStreams: false, hasWebpageURL: true, age: 3600)
        }
        return try #require(
            Announcement(
                deviceID: DeviceID(key.publicKey), position: Position(generation: 1_800_000_000, seq: seq), port: 24863,
                kind: .laptop, rosterDigest: Array(0x60...0x67), listSeq: min(seq, 4),
                activities: activities == 0 ? [] : [first] + others))
    }

    /// The members: both devices.
    func publicKey(_ id: DeviceID) -> PublicKey? {
        [keyA.publicKey, keyB.publicKey].first { DeviceID($0) == id }
    }

    func sealed(to receiver: Label? = nil, salt: [UInt8] = Randomness.bytes(16)) throws -> [UInt8] {
        let advert = try SignedAdvert(announcement, label: labelA, key: keyA)
        return try AdvertSeal.seal(advert, to: receiver ?? labelB, advertKey: keys.advert, salt: salt)
    }

    func open(_ datagram: [UInt8], receivers: [Label]? = nil) throws(SealError) -> OpenedDatagram {
        try AdvertSeal.open(
            datagram, receivers: receivers ?? [labelB], advertKey: keys.advert, publicKey: publicKey)
    }

    /// The secrets of both devices.
    var pair: PairwiseKeys {
        get throws { try PairwiseKeys(device: keyB, device: keyA.publicKey, accountID: accountID) }
    }

    /// The acknowledgement by B of A's advert, which arrived at 192.0.2.2.
    func acknowledgement(salt: [UInt8]) throws -> Acknowledgement {
        let address = try #require(PeerAddress(host: [192, 0, 2, 2], port: 24863))
        return try pair.acknowledgement(
            by: DeviceID(keyB.publicKey), of: announcement.position, at: address.hostInIPv6, salt: salt)
    }

    /// The time of sealing its records, and their addresses.
    static let unixSeconds: Int64 = 1_800_000_000
    static let addressIPv4: [UInt8] = [192, 168, 1, 20]
    static let addressIPv6: [UInt8] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a]

    func signed(
        _ announcement: Announcement? = nil, by key: SigningKey? = nil,
        under label: Label? = nil,
        addresses: [[UInt8]] = [addressIPv4, addressIPv6], unixSeconds: Int64 = unixSeconds
    ) throws -> [UInt8] {
        try BeaconSeal.sign(
            announcement ?? self.announcement, period: Period(unixSeconds: unixSeconds), addresses: addresses,
            label: label ?? labelA, beaconKey: keys.beacon, key: key ?? keyA, padding: Array(0x80..<0xC0))
    }

    func seal(
        _ signed: [UInt8], under label: Label? = nil, salt: [UInt8] = Randomness.bytes(16),
        marking places: [Marks.Place] = []
    ) throws -> [[UInt8]] {
        try BeaconSeal.seal(
            signed, label: label ?? labelA, beaconKey: keys.beacon, marking: places, salt: salt)
    }

    func beacon(salt: [UInt8] = Randomness.bytes(16), marking places: [Marks.Place] = []) throws -> [[UInt8]] {
        try seal(try signed(), salt: salt, marking: places)
    }

    func open(beacon: [[UInt8]], label: Label? = nil) throws(SealError) -> OpenedBeacon {
        try BeaconSeal.open(
            beacon, label: label ?? labelA, labelKey: keys.label, beaconKey: keys.beacon, publicKey: publicKey)
    }
}
