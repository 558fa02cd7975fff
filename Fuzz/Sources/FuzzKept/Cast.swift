import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol

/// Three members with fixed keys, and their records.
enum Cast {
    private static let start: UInt64 = 1_800_000_000
    private static let keys: [SigningKey] = (0..<3).compactMap { number in
        try? SigningKey(seed: SecretBytes(copying: [UInt8](repeating: UInt8(number), count: 32)))
    }
    static let ids = keys.map { DeviceID($0.publicKey) }
    private static let publicKeys = Dictionary(uniqueKeysWithValues: zip(ids, keys.map(\.publicKey)))
    // libFuzzer has one thread.
    nonisolated(unsafe) private static var made: [UInt32: KeptRecord] = [:]

    /// The seal of items from the first member to the second.
    static let seal = try? KeptSeal(
        PairwiseKeys(
            device: keys[1], device: keys[0].publicKey, accountID: AccountID(checked: [UInt8](repeating: 1, count: 16))),
        sender: ids[0])

    static func context(_ seconds: UInt64) -> KeptStore.Context {
        KeptStore.Context(
            now: MonotonicInstant(nanoseconds: (seconds + 1) * 1_000_000_000), unixSeconds: start + seconds,
            members: 3
        ) { publicKeys[$0] }
    }

    /// Returns the record encoded in three bytes: kind and signer, activity and generation, time.
    static func record(_ bytes: [UInt8]) -> KeptRecord? {
        let (kind, signer) = (bytes[0] % 8, Int(bytes[0] >> 3) % 3)
        let number = UInt32(kind) << 24 | UInt32(signer) << 16 | UInt32(bytes[1]) << 8 | UInt32(bytes[2] & 31)
        if let known = made[number] { return known }
        let generation = UInt64(bytes[1] >> 4) % 6 + 1
        let stamp = KeptStamp(
            position: Position(generation: generation, seq: 0), time: start + UInt64(bytes[2] & 31))
        let activity = ActivityID(checked: [UInt8](repeating: bytes[1] & 15, count: 16))
        let record: KeptRecord?
        switch kind {
        case 0, 1, 2:
            let payload = Array(#"{"type":"org.example.note"}"#.utf8)
            record = try? KeptCopy(
                origin: ids[signer], stamp: stamp, activity: activity, end: stamp.time + UInt64(kind + 1) * 28_800,
                payload: payload, key: keys[signer]
            ).map { .copy($0) }
        case 3, 4:
            let listed = (0..<5).filter { bytes[1] >> $0 & 1 == 1 }.map {
                ActivityID(checked: [UInt8](repeating: $0, count: 16))
            }
            record = try? KeptList(
                origin: ids[signer], stamp: stamp, firstGeneration: kind == 3 ? 1 : generation,
                end: stamp.time + KeptLimits.lifetime, activities: listed, key: keys[signer]
            ).map { .list($0) }
        default:
            record = try? .receipt(
                KeptReceipt(
                    device: ids[signer], origin: ids[(signer + 1) % 3], activity: activity, time: stamp.time,
                    key: keys[signer]))
        }
        made[number] = record
        return record
    }
}
