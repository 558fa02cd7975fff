package import HandoffAccount
package import HandoffCrypto
import HandoffJSON
package import HandoffModel
package import HandoffProtocol
import LoopIO

/// The records of kept activities on this device, its own and those of other devices. Plain values
/// with time as a parameter.
///
/// Merging is independent of order: of one activity the newest copy is kept, and of one origin the
/// newest list. An origin that uses up its quota affects only its own activities.
package struct KeptStore: Sendable {
    /// The result of `merge`.
    package enum Outcome: Equatable, Sendable {
        /// The record is new, and was stored.
        case stored
        /// The store has the record.
        case known
        /// The store has a newer record, or the origin has withdrawn the activity.
        case outdated
        /// The record was not stored.
        case refused(Refusal)
    }

    /// The reason why a record is not stored.
    package enum Refusal: Equatable, Sendable {
        /// Its signer is not a member.
        case unknownDevice
        /// Its signature or its payload is invalid.
        case invalid
        /// Its origin, or all of them together, use the maximum memory.
        case full
        /// The process may not lock more memory.
        case noLockedMemory
    }

    /// An activity that is kept.
    package struct Kept: Sendable {
        package let origin: DeviceID
        package let stamp: KeptStamp
        /// The activity as its origin would announce it. Its age is that of the saved state.
        package let summary: ActivitySummary
        /// The time at which the state was saved, by the clock of this device.
        package let saved: MonotonicInstant
        fileprivate let entry: Entry

        /// The payload as its origin encoded it, in ordinary memory.
        package var payload: [UInt8] {
            guard case .copy(let copy)? = entry.decoded(.copy) else { return [] }
            return copy.payload
        }
    }

    fileprivate struct Entry: Sendable {
        /// The encoded record.
        let bytes: LockedBytes
        let name: KeptName
        let expires: MonotonicInstant

        func decoded(_ kind: KeptRecord.Kind) -> KeptRecord? { try? KeptRecord(kind, decoding: bytes.bytes) }
    }

    private struct CopyKey: Hashable {
        let origin: DeviceID
        let activity: ActivityID
    }

    private struct CopyEntry {
        let stamp: KeptStamp
        let summary: ActivitySummary
        let saved: MonotonicInstant
        let entry: Entry
    }

    /// The maximum size of all records together in bytes. A process may usually lock 8 MiB.
    package static let maxBytes = 6 * 1024 * 1024

    private var copies: [CopyKey: CopyEntry] = [:]
    private var lists: [DeviceID: (list: KeptList, entry: Entry)] = [:]
    private var receipts: [KeptReceipt: Entry] = [:]
    private var names: [KeptName: KeptRecord.Kind] = [:]
    /// The exclusive or of the first 8 bytes of all names.
    package private(set) var digest: UInt64 = 0

    /// Creates an empty store.
    package init() {}

    /// True if there is no record.
    package var isEmpty: Bool { names.isEmpty }

    /// The size of all copies in bytes.
    package var byteCount: Int { copies.values.reduce(0) { $0 + $1.entry.bytes.count } }

    /// The kept activities, most recently saved first.
    package var activities: [Kept] {
        copies.map { Kept(origin: $0.origin, stamp: $1.stamp, summary: $1.summary, saved: $1.saved, entry: $1.entry) }
            .sorted { ($0.saved, $0.summary.id) > ($1.saved, $1.summary.id) }
    }

    /// Returns the kept activity with this id of an offer.
    package func activity(_ id: ActivityID, of origin: DeviceID) -> Kept? {
        copies[CopyKey(origin: origin, activity: id)].map {
            Kept(origin: origin, stamp: $0.stamp, summary: $0.summary, saved: $0.saved, entry: $0.entry)
        }
    }

    /// Returns the newest list of an origin.
    package func list(of origin: DeviceID) -> KeptList? { lists[origin]?.list }

    /// The receipts, in no order.
    package var allReceipts: [KeptReceipt] { Array(receipts.keys) }

    /// The names of all records.
    var allNames: [KeptName] { names.keys.sorted() }

    /// Returns whether the store has the record with this name.
    func contains(_ name: KeptName) -> Bool { names[name] != nil }

    /// Returns a record with its remaining time in seconds, for another device.
    func record(_ name: KeptName, at now: MonotonicInstant) -> SentKeptRecord? {
        guard let kind = names[name] else { return nil }
        let entry: Entry? =
            switch kind {
            case .copy: copies.values.first { $0.entry.name == name }?.entry
            case .list: lists.values.first { $0.entry.name == name }?.entry
            case .receipt: receipts.values.first { $0.name == name }
            }
        guard let entry, let record = entry.decoded(kind) else { return nil }
        let left = now.duration(to: entry.expires).components.seconds
        return left > 0 ? SentKeptRecord(record, left: UInt64(left)) : nil
    }

    /// Adds a record of a member, if it is genuine and newer than the present ones.
    ///
    /// - Parameters:
    ///   - left: the remaining time of the record in seconds, as its sender states it.
    ///   - members: the number of members, which share the memory.
    ///   - key: returns the key of a member.
    package mutating func merge(
        _ record: KeptRecord, left: UInt64, at now: MonotonicInstant, members: Int, key: (DeviceID) -> PublicKey?
    ) -> Outcome {
        let encoded = record.encoded
        let name = KeptName(of: encoded)
        guard !contains(name) else { return .known }
        guard let signer = key(record.signer), key(record.origin) != nil else { return .refused(.unknownDevice) }
        // Before the signature, whose check costs more.
        guard !isOutdated(record) else { return .outdated }
        guard record.isGenuine(signer) else { return .refused(.invalid) }
        let seconds = min(left, record.lifetime)
        guard seconds > 0 else { return .outdated }
        var summary: ActivitySummary?
        if case .copy(let copy) = record {
            summary = Self.summary(of: copy, age: record.lifetime - seconds)
            guard summary != nil else { return .refused(.invalid) }
            guard makeRoom(for: copy, encoded.count, members: members) else { return .refused(.full) }
        }
        guard let bytes = LockedBytes(encoded) else { return .refused(.noLockedMemory) }
        let entry = Entry(bytes: bytes, name: name, expires: now.advanced(by: .seconds(Int64(seconds))))
        switch record {
        case .copy(let copy):
            guard let summary else { return .refused(.invalid) }
            let key = CopyKey(origin: copy.origin, activity: copy.activity)
            removeCopy(key)
            let saved = now - .seconds(Int64(summary.age))
            copies[key] = CopyEntry(stamp: copy.stamp, summary: summary, saved: saved, entry: entry)
        case .list(let list):
            if let former = lists[list.origin] { forget(former.entry.name) }
            lists[list.origin] = (list, entry)
            for (key, copy) in copies where key.origin == list.origin && list.withdraws(key.activity, copy.stamp) {
                removeCopy(key)
            }
        case .receipt(let receipt):
            makeRoom(for: receipt)
            receipts[receipt] = entry
        }
        names[name] = record.kind
        toggle(name)
        return .stored
    }

    /// Removes the records of devices that are no longer members. Call it after each change of the
    /// roster.
    package mutating func retain(_ live: Set<DeviceID>) {
        for key in copies.keys where !live.contains(key.origin) { removeCopy(key) }
        for (origin, list) in lists where !live.contains(origin) {
            forget(list.entry.name)
            lists[origin] = nil
        }
        for receipt in receipts.keys where !live.isSuperset(of: [receipt.device, receipt.origin]) { remove(receipt) }
    }

    /// Removes everything.
    package mutating func removeAll() {
        self = KeptStore()
    }

    /// Removes the records whose time is over.
    package mutating func expire(at now: MonotonicInstant) {
        for (key, copy) in copies where copy.entry.expires <= now { removeCopy(key) }
        for (origin, list) in lists where list.entry.expires <= now {
            forget(list.entry.name)
            lists[origin] = nil
        }
        for (receipt, entry) in receipts where entry.expires <= now { remove(receipt) }
    }

    /// The time at which the first record expires.
    package var nextDeadline: MonotonicInstant? {
        let ends = [
            copies.values.lazy.map(\.entry.expires).min(), lists.values.lazy.map(\.entry.expires).min(),
            receipts.values.lazy.map(\.expires).min(),
        ]
        return ends.compactMap { $0 }.min()
    }

    // MARK: - Parts

    private func isOutdated(_ record: KeptRecord) -> Bool {
        switch record {
        case .copy(let copy):
            if let list = lists[copy.origin]?.list, list.withdraws(copy.activity, copy.stamp) { return true }
            let present = copies[CopyKey(origin: copy.origin, activity: copy.activity)]
            return present.map { $0.stamp >= copy.stamp } ?? false
        case .list(let list): return lists[list.origin].map { $0.list.stamp >= list.stamp } ?? false
        case .receipt: return false
        }
    }

    /// Removes the copies of former generations that a new one displaces. Returns false if there is
    /// no room for it.
    private mutating func makeRoom(for copy: KeptCopy, _ count: Int, members: Int) -> Bool {
        let own = copies.filter { $0.key.origin == copy.origin && $0.key.activity != copy.activity }
        var bytes = own.values.reduce(0) { $0 + $1.entry.bytes.count }
        var number = own.count
        let former = own.filter { $0.value.stamp.position.generation < copy.stamp.position.generation }
            .sorted { $0.value.stamp < $1.value.stamp }
        var displaced: [CopyKey] = []
        let share = min(KeptLimits.maxPayloads, Self.maxBytes / max(members, 1))
        for (key, entry) in former where number >= KeptLimits.maxCopies || bytes + count > share {
            displaced.append(key)
            number -= 1
            bytes -= entry.entry.bytes.count
        }
        guard number < KeptLimits.maxCopies, bytes + count <= share else { return false }
        for key in displaced { removeCopy(key) }
        return true
    }

    /// Removes the oldest receipt of a device that has the maximum number.
    private mutating func makeRoom(for receipt: KeptReceipt) {
        let others = receipts.keys.filter { $0.device == receipt.device }
        guard others.count >= KeptLimits.maxReceipts, let oldest = others.min(by: { $0.time < $1.time }) else { return }
        remove(oldest)
    }

    private mutating func removeCopy(_ key: CopyKey) {
        guard let copy = copies.removeValue(forKey: key) else { return }
        forget(copy.entry.name)
    }

    private mutating func remove(_ receipt: KeptReceipt) {
        guard let entry = receipts.removeValue(forKey: receipt) else { return }
        forget(entry.name)
    }

    private mutating func forget(_ name: KeptName) {
        names[name] = nil
        toggle(name)
    }

    private mutating func toggle(_ name: KeptName) {
        digest ^= name.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the activity in a copy; nil if its payload is invalid.
    private static func summary(of copy: KeptCopy, age: UInt64) -> ActivitySummary? {
        guard let object = try? JSON(parsing: copy.payload, limits: JSONLimits(bytes: copy.payload.count)).object,
            let content = try? ActivityContent(payload: object)
        else { return nil }
        return ActivitySummary(
            id: copy.activity, type: content.type, title: content.title, team: content.team,
            supportsStreams: content.supportsStreams, hasWebpageURL: content.webpageURL != nil,
            age: UInt32(clamping: age), lineage: content.lineage, isExclusive: content.isExclusive)
    }
}
