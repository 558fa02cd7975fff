import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol

/// Devices with fixed keys that sign records of kept activities.
struct KeptSigner {
    static let start: UInt64 = 1_800_000_000

    let key: SigningKey

    init(_ number: UInt8) throws {
        key = try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: number + 1, count: 32)))
    }

    var id: DeviceID { DeviceID(key.publicKey) }

    /// The id of an activity.
    static func activity(_ number: UInt8) -> ActivityID { ActivityID(checked: [UInt8](repeating: number, count: 16)) }

    /// A copy, saved at this second.
    func copy(
        _ number: UInt8, at time: UInt64, generation: UInt64 = 1, lifetime: UInt64 = KeptLimits.lifetime,
        bytes: Int = 60, payload: String? = nil
    ) throws -> KeptRecord {
        var text = payload ?? #"{"type":"org.example.note","title":"\#(time)"}"#
        if payload == nil, text.utf8.count < bytes {
            text += String(repeating: " ", count: bytes - text.utf8.count)
        }
        let stamp = KeptStamp(position: Position(generation: generation, seq: 0), time: Self.start + time)
        guard
            let copy = try KeptCopy(
                origin: id, stamp: stamp, activity: Self.activity(number), end: stamp.time + lifetime,
                payload: Array(text.utf8), key: key)
        else { preconditionFailure("an invalid copy") }
        return .copy(copy)
    }

    /// A copy with a payload of any form.
    func copy(_ number: UInt8, at time: UInt64, bytes payload: [UInt8]) throws -> KeptRecord {
        try record(Self.activity(number), at: time, payload)
    }

    /// The copies with the parts of an item for another device, saved from this second on.
    func parts(_ number: UInt8, for recipient: KeptSigner, _ bytes: Int, at time: UInt64) throws -> [KeptRecord] {
        let account = AccountID(checked: [UInt8](repeating: 1, count: AccountID.byteCount))
        let keys = try PairwiseKeys(device: key, device: recipient.key.publicKey, accountID: account)
        let parts = try KeptSeal(keys, sender: id)
            .seal([UInt8](repeating: 0, count: bytes), Self.activity(number), for: recipient.id)
        return try (parts ?? []).enumerated().map { index, payload in
            let activity = KeptPart.activity(of: Self.activity(number), number: index)
            return try record(activity, at: time + UInt64(index), payload)
        }
    }

    private func record(_ activity: ActivityID, at time: UInt64, _ payload: [UInt8]) throws -> KeptRecord {
        let stamp = KeptStamp(position: Position(generation: 1, seq: 0), time: Self.start + time)
        let copy = try KeptCopy(
            origin: id, stamp: stamp, activity: activity, end: stamp.time + KeptLimits.lifetime, payload: payload,
            key: key)
        guard let copy else { preconditionFailure("an invalid copy") }
        return .copy(copy)
    }

    /// A list, signed at this second.
    func list(
        _ numbers: [UInt8], at time: UInt64, generation: UInt64 = 1, first: UInt64 = 1,
        lifetime: UInt64 = KeptLimits.lifetime
    ) throws -> KeptRecord {
        let stamp = KeptStamp(position: Position(generation: generation, seq: 0), time: Self.start + time)
        guard
            let list = try KeptList(
                origin: id, stamp: stamp, firstGeneration: first, end: stamp.time + lifetime,
                activities: numbers.map(Self.activity), key: key)
        else { preconditionFailure("an invalid list") }
        return .list(list)
    }

    /// A receipt for an activity of another device.
    func receipt(_ number: UInt8, of origin: KeptSigner, at time: UInt64) throws -> KeptRecord {
        .receipt(
            try KeptReceipt(
                device: id, origin: origin.id, activity: Self.activity(number), time: Self.start + time, key: key))
    }
}

extension KeptStore.Context {
    /// The members at a second.
    init(_ members: [KeptSigner], at seconds: UInt64 = 0, count: Int? = nil, clock: UInt64? = nil) {
        let keys = Dictionary(uniqueKeysWithValues: members.map { ($0.id, $0.key.publicKey) })
        self.init(
            now: MonotonicInstant(nanoseconds: (seconds + 1_000_000) * 1_000_000_000),
            unixSeconds: clock ?? KeptSigner.start + seconds, members: count ?? members.count
        ) { keys[$0] }
    }
}
