package import HandoffAccount
package import HandoffCrypto
import HandoffJSON
package import HandoffModel
package import HandoffProtocol
import LoopIO

/// The records of kept activities on this device, its own and those of other devices. Plain values
/// with time as a parameter.
///
/// Merging is independent of order: of one activity the newest copy is kept, of one origin the newest
/// list of each generation, and within each limit the newest records. An origin that uses up its
/// quota affects only its own activities.
package struct KeptStore: Sendable {
    /// The result of `merge`.
    package enum Outcome: Equatable, Sendable {
        /// The record is new, and was stored.
        case stored
        /// The store has the record.
        case known
        /// The store has a newer record, or the origin has withdrawn the activity, or the record has
        /// expired.
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
        /// Newer records use the memory of its origin.
        case full
        /// The process may not lock more memory.
        case noLockedMemory
    }

    /// The members of the account, and the present time.
    package struct Context {
        package let now: MonotonicInstant
        /// The clock of this device, in seconds since 1970. It may be wrong.
        package let unixSeconds: UInt64
        /// The number of members, which share the memory.
        package let members: Int
        /// Returns the key of a member.
        package let key: (DeviceID) -> PublicKey?

        package init(
            now: MonotonicInstant, unixSeconds: UInt64, members: Int, key: @escaping (DeviceID) -> PublicKey?
        ) {
            self.now = now
            self.unixSeconds = unixSeconds
            self.members = members
            self.key = key
        }
    }

    /// An activity that is kept.
    package struct Kept: Sendable {
        package let origin: DeviceID
        package let stamp: KeptStamp
        /// The activity as its origin would announce it. Its age is that of the saved state.
        package let summary: ActivitySummary
        /// The time at which the state was saved, by the clock of this device.
        package let saved: MonotonicInstant
        /// The part of an item that it contains; nil for an activity that all members can read.
        package let part: KeptPart?
        private let memory: LockedBytes

        fileprivate init(_ entry: CopyEntry) {
            origin = entry.copy.origin
            stamp = entry.copy.stamp
            summary = entry.summary
            saved = entry.saved
            part = entry.part
            memory = entry.payload
        }

        /// The payload as its origin encoded it, in ordinary memory.
        package var payload: [UInt8] { memory.bytes }
    }

    /// The order of an origin's records. The names order two records with one stamp, which an honest
    /// origin never signs.
    fileprivate struct Order: Comparable {
        let stamp: KeptStamp
        let name: KeptName

        static func < (left: Order, right: Order) -> Bool {
            (left.stamp, left.name) < (right.stamp, right.name)
        }
    }

    /// The order of a device's receipts.
    private struct ReceiptOrder: Comparable {
        let time: UInt64
        let name: KeptName

        static func < (left: ReceiptOrder, right: ReceiptOrder) -> Bool {
            (left.time, left.name) < (right.time, right.name)
        }
    }

    fileprivate struct CopyEntry {
        /// The copy without its payload.
        let copy: KeptCopy
        let payload: LockedBytes
        let part: KeptPart?
        let summary: ActivitySummary
        let saved: MonotonicInstant
        let name: KeptName
        let expires: MonotonicInstant

        var order: Order { Order(stamp: copy.stamp, name: name) }
        /// The number of bytes that count for the limits.
        var size: Int { KeptLimits.size(payload.count) }
    }

    private struct ListEntry {
        let list: KeptList
        let name: KeptName
        let expires: MonotonicInstant

        var order: Order { Order(stamp: list.stamp, name: name) }
    }

    private struct ReceiptEntry {
        let receipt: KeptReceipt
        let name: KeptName
        let expires: MonotonicInstant

        var order: ReceiptOrder { ReceiptOrder(time: receipt.time, name: name) }
    }

    /// The records of one origin, and what is known of former ones.
    private struct Origin {
        var copies: [ActivityID: CopyEntry] = [:]
        /// The newest list of each generation.
        var lists: [UInt64: ListEntry] = [:]
        /// The first generation that is not withdrawn.
        var firstGeneration: UInt64 = 1
        /// The newest list that has expired. All older records have expired too, but a device could
        /// send them again.
        var floor: KeptStamp?
        /// Copies that have expired, until an older copy of the activity could not exist any more.
        var expired: [ActivityID: (order: Order, until: MonotonicInstant)] = [:]

        func isOutdated(_ copy: KeptCopy, _ order: Order) -> Bool {
            let present = copies[copy.activity]?.order ?? expired[copy.activity]?.order
            return withdraws(copy.activity, copy.stamp) || present.map { $0 >= order } ?? false
        }

        func isOutdated(_ list: KeptList, _ order: Order) -> Bool {
            let generation = list.stamp.position.generation
            return generation < firstGeneration || floor.map { list.stamp <= $0 } ?? false
                || lists[generation].map { $0.order >= order } ?? false
        }

        func withdraws(_ activity: ActivityID, _ stamp: KeptStamp) -> Bool {
            stamp.position.generation < firstGeneration || floor.map { stamp < $0 } ?? false
                || lists[stamp.position.generation]?.list.withdraws(activity, stamp) ?? false
        }

        mutating func add(_ entry: ListEntry) {
            lists[entry.list.stamp.position.generation] = entry
            firstGeneration = max(firstGeneration, entry.list.firstGeneration)
            lists = lists.filter { $0.key >= firstGeneration }
            // Generations before the oldest of these lists are withdrawn: their lists are not kept.
            let newest = lists.keys.sorted(by: >).prefix(KeptLimits.maxLists)
            if newest.count == KeptLimits.maxLists, let first = newest.last {
                firstGeneration = max(firstGeneration, first)
                lists = lists.filter { $0.key >= first }
            }
            copies = copies.filter { !withdraws($0.key, $0.value.copy.stamp) }
        }

        /// Removes all but the newest copies that fit.
        mutating func limit(to share: Int) {
            var (count, bytes) = (0, 0)
            for copy in copies.values.sorted(by: { $0.order > $1.order }) {
                count += 1
                bytes += copy.size
                if count > KeptLimits.maxCopies || bytes > share { copies[copy.copy.activity] = nil }
            }
        }

        /// Returns true if the new copy would remain after `limit`.
        func fits(_ activity: ActivityID, _ order: Order, _ size: Int, in share: Int) -> Bool {
            let newer = copies.values.filter { $0.copy.activity != activity && $0.order > order }
            return newer.count < KeptLimits.maxCopies && newer.reduce(size) { $0 + $1.size } <= share
        }

        mutating func expire(at now: MonotonicInstant) {
            expired = expired.filter { $0.value.until > now }
            for entry in copies.values where entry.expires <= now {
                copies[entry.copy.activity] = nil
                let until = entry.expires.advanced(by: .seconds(Int64(KeptLimits.lifetime)))
                expired[entry.copy.activity] = (entry.order, until)
            }
            for oldest in expired.sorted(by: { $0.value.order < $1.value.order })
                .prefix(max(0, expired.count - KeptLimits.maxCopies))
            { expired[oldest.key] = nil }
            for (generation, entry) in lists where entry.expires <= now {
                lists[generation] = nil
                floor = max(floor ?? entry.list.stamp, entry.list.stamp)
            }
            copies = copies.filter { !withdraws($0.key, $0.value.copy.stamp) }
        }
    }

    /// The receipts of one device.
    private struct Device {
        var receipts: [ReceiptEntry] = []
        /// The newest receipt that has expired or was displaced. Older ones are not accepted again.
        var floor: ReceiptOrder?

        mutating func limit(to share: Int) {
            receipts.sort { $0.order > $1.order }
            while receipts.count > share { drop(receipts.removeLast()) }
        }

        mutating func expire(at now: MonotonicInstant) {
            let ended = receipts.filter { $0.expires <= now }
            receipts.removeAll { $0.expires <= now }
            for entry in ended { drop(entry) }
        }

        private mutating func drop(_ entry: ReceiptEntry) { floor = max(floor ?? entry.order, entry.order) }
    }

    /// The place of a record.
    private enum Place {
        case copy(DeviceID, ActivityID)
        case list(DeviceID, UInt64)
        case receipt(DeviceID)
    }

    private var origins: [DeviceID: Origin] = [:]
    private var devices: [DeviceID: Device] = [:]
    private var places: [KeptName: Place] = [:]

    /// Creates an empty store.
    package init() {}

    /// True if there is no record.
    package var isEmpty: Bool { places.isEmpty }

    /// The number of records.
    package var count: Int { places.count }

    /// The size of all payloads in bytes.
    package var byteCount: Int {
        origins.values.reduce(0) { $0 + $1.copies.values.reduce(0) { $0 + $1.payload.count } }
    }

    /// The first 16 bytes of the SHA-256 of all names, ascending.
    package var digest: [UInt8] { Array(SHA256.hash(allNames.flatMap(\.bytes)).prefix(KeptName.byteCount)) }

    /// The kept activities, most recently saved first.
    package var activities: [Kept] {
        origins.values.flatMap { $0.copies.values.map(Kept.init) }
            .sorted { ($0.saved, $0.summary.id) > ($1.saved, $1.summary.id) }
    }

    /// Returns the kept activity with this id of an offer.
    package func activity(_ id: ActivityID, of origin: DeviceID) -> Kept? {
        origins[origin]?.copies[id].map(Kept.init)
    }

    /// Returns all parts of the item to which a part belongs, in order; nil unless all of them are kept, in
    /// the same version.
    package func parts(of part: KeptPart, from origin: DeviceID) -> [Kept]? {
        var parts: [Kept] = []
        for number in 0..<part.count {
            guard let found = activity(KeptPart.activity(of: part.item, number: number), of: origin),
                found.part?.belongs(with: part) == true
            else { return nil }
            parts.append(found)
        }
        return parts
    }

    /// Returns the newest list of an origin.
    package func list(of origin: DeviceID) -> KeptList? {
        origins[origin]?.lists.max { $0.key < $1.key }?.value.list
    }

    /// The receipts, in no order.
    package var allReceipts: [KeptReceipt] { devices.values.flatMap { $0.receipts.map(\.receipt) } }

    /// The names of all records, ascending.
    package var allNames: [KeptName] { places.keys.sorted() }

    /// Returns whether the store has the record with this name.
    package func contains(_ name: KeptName) -> Bool { places[name] != nil }

    /// Returns the lists and copies of an origin with their remaining time, for another device. The lists
    /// are first, because they make room.
    package func records(of origin: DeviceID, at now: MonotonicInstant) -> [SentKeptRecord] {
        let state = origins[origin] ?? Origin()
        return (state.lists.values.map(\.name) + state.copies.values.map(\.name)).compactMap { record($0, at: now) }
    }

    /// Returns a record with its remaining time in seconds, for another device.
    package func record(_ name: KeptName, at now: MonotonicInstant) -> SentKeptRecord? {
        guard let (record, expires) = find(name) else { return nil }
        let left = now.duration(to: expires).components.seconds
        return left > 0 ? SentKeptRecord(record, left: UInt64(left)) : nil
    }

    private func find(_ name: KeptName) -> (KeptRecord, MonotonicInstant)? {
        switch places[name] {
        case .copy(let origin, let activity):
            origins[origin]?.copies[activity].map { (.copy($0.copy.with(payload: $0.payload.bytes)), $0.expires) }
        case .list(let origin, let generation):
            origins[origin]?.lists[generation].map { (.list($0.list), $0.expires) }
        case .receipt(let device):
            devices[device]?.receipts.first { $0.name == name }.map { (.receipt($0.receipt), $0.expires) }
        case nil: nil
        }
    }

    /// Adds a record of a member, if it is genuine and newer than the present ones.
    ///
    /// - Parameter left: the remaining time of the record in seconds, as its sender states it.
    package mutating func merge(_ record: KeptRecord, left: UInt64, _ context: Context) -> Outcome {
        let name = KeptName(of: record.encoded)
        guard !contains(name) else { return .known }
        guard let signer = context.key(record.signer), context.key(record.origin) != nil else {
            return .refused(.unknownDevice)
        }
        // Before the signature, whose check costs more.
        let latest = record.end.addingReportingOverflow(KeptLimits.clockTolerance)
        guard !isOutdated(record, name), latest.overflow || context.unixSeconds <= latest.partialValue else {
            return .outdated
        }
        guard record.isGenuine(signer) else { return .refused(.invalid) }
        guard let seconds = Self.timeLeft(of: record, stated: left, context) else { return .outdated }
        let expires = context.now.advanced(by: .seconds(Int64(seconds)))
        switch record {
        case .copy(let copy):
            if let refusal = add(copy, name, expires, record.lifetime - seconds, context) { return .refused(refusal) }
        case .list(let list):
            update(list.origin) { $0.add(ListEntry(list: list, name: name, expires: expires)) }
        case .receipt(let receipt):
            if hasSame(receipt) { return .known }
            let share = KeptLimits.receiptShare(members: context.members)
            updateReceipts(receipt.device) { device in
                device.receipts.append(ReceiptEntry(receipt: receipt, name: name, expires: expires))
                device.limit(to: share)
            }
            guard contains(name) else { return .outdated }
        }
        return .stored
    }

    /// Returns for how many seconds a record is kept; nil if its time is over. A member that states another
    /// time than the clock of this device changes it only within the tolerance for wrong clocks.
    private static func timeLeft(of record: KeptRecord, stated left: UInt64, _ context: Context) -> UInt64? {
        guard left > 0 else { return nil }
        let byClock = record.end - min(record.end, context.unixSeconds)
        let latest = byClock.addingReportingOverflow(KeptLimits.clockTolerance)
        return min(max(left, byClock), record.lifetime, latest.overflow ? .max : latest.partialValue)
    }

    private mutating func add(
        _ copy: KeptCopy, _ name: KeptName, _ expires: MonotonicInstant, _ age: UInt64, _ context: Context
    ) -> Refusal? {
        let part = KeptPart(copy.payload)
        guard let summary = Self.summary(of: copy, part, age: age) else { return .invalid }
        let share = KeptLimits.payloadShare(members: context.members)
        let order = Order(stamp: copy.stamp, name: name)
        guard
            (origins[copy.origin] ?? Origin()).fits(
                copy.activity, order, KeptLimits.size(copy.payload.count), in: share)
        else { return .full }
        guard let payload = LockedBytes(copy.payload) else { return .noLockedMemory }
        let entry = CopyEntry(
            copy: copy.with(payload: []), payload: payload, part: part, summary: summary,
            saved: context.now - .seconds(Int64(summary.age)), name: name, expires: expires)
        update(copy.origin) { origin in
            origin.copies[copy.activity] = entry
            origin.limit(to: share)
        }
        return nil
    }

    /// Removes the records of devices that are no longer members, and those beyond the limits, which
    /// depend on the number of members. Call it after each change of the roster.
    package mutating func retain(_ live: Set<DeviceID>) {
        for origin in origins.keys where !live.contains(origin) {
            update(origin) { $0 = Origin() }
            origins[origin] = nil
        }
        for device in devices.keys {
            updateReceipts(device) { state in
                if !live.contains(device) { state.receipts = [] }
                state.receipts.removeAll { !live.contains($0.receipt.origin) }
                state.limit(to: KeptLimits.receiptShare(members: live.count))
            }
            if !live.contains(device) { devices[device] = nil }
        }
        for origin in origins.keys {
            update(origin) { $0.limit(to: KeptLimits.payloadShare(members: live.count)) }
        }
    }

    /// Removes everything.
    package mutating func removeAll() {
        self = KeptStore()
    }

    /// Removes the records whose time is over.
    package mutating func expire(at now: MonotonicInstant) {
        for origin in origins.keys { update(origin) { $0.expire(at: now) } }
        for device in devices.keys { updateReceipts(device) { state in state.expire(at: now) } }
    }

    /// The time at which the first record expires.
    package var nextDeadline: MonotonicInstant? {
        let records = origins.values.flatMap { $0.copies.values.map(\.expires) + $0.lists.values.map(\.expires) }
        return (records + devices.values.flatMap { $0.receipts.map(\.expires) }).min()
    }

    // MARK: - Parts

    private func isOutdated(_ record: KeptRecord, _ name: KeptName) -> Bool {
        switch record {
        case .copy(let copy):
            origins[copy.origin]?.isOutdated(copy, Order(stamp: copy.stamp, name: name)) ?? false
        case .list(let list):
            origins[list.origin]?.isOutdated(list, Order(stamp: list.stamp, name: name)) ?? false
        case .receipt(let receipt):
            devices[receipt.device]?.floor.map { $0 >= ReceiptOrder(time: receipt.time, name: name) } ?? false
        }
    }

    /// Returns true if there is a receipt of the same fields with another signature.
    private func hasSame(_ receipt: KeptReceipt) -> Bool {
        devices[receipt.device]?.receipts.contains {
            let other = $0.receipt
            return (other.origin, other.activity, other.time) == (receipt.origin, receipt.activity, receipt.time)
        } ?? false
    }

    /// Changes the records of an origin, and keeps the places equal.
    private mutating func update(_ id: DeviceID, _ change: (inout Origin) -> Void) {
        var origin = origins[id] ?? Origin()
        for name in Self.names(origin) { places[name] = nil }
        change(&origin)
        for entry in origin.copies.values { places[entry.name] = .copy(id, entry.copy.activity) }
        for (generation, entry) in origin.lists { places[entry.name] = .list(id, generation) }
        origins[id] = origin
    }

    private mutating func updateReceipts(_ id: DeviceID, _ change: (inout Device) -> Void) {
        var device = devices[id] ?? Device()
        for entry in device.receipts { places[entry.name] = nil }
        change(&device)
        for entry in device.receipts { places[entry.name] = .receipt(id) }
        devices[id] = device
    }

    private static func names(_ origin: Origin) -> [KeptName] {
        origin.copies.values.map(\.name) + origin.lists.values.map(\.name)
    }

    /// Returns the activity in a copy; nil if its payload is invalid. Only its recipient can read a part
    /// of an item.
    private static func summary(of copy: KeptCopy, _ part: KeptPart?, age: UInt64) -> ActivitySummary? {
        guard !KeptPart.isPart(copy.payload) else {
            guard part?.activity == copy.activity else { return nil }
            return ActivitySummary(
                id: copy.activity, type: .sealed, title: nil, team: nil, supportsStreams: false, hasWebpageURL: false,
                age: UInt32(clamping: age))
        }
        guard let object = try? JSON(parsing: copy.payload, limits: JSONLimits(bytes: copy.payload.count)).object,
            let content = try? ActivityContent(payload: object)
        else { return nil }
        return ActivitySummary(
            id: copy.activity, type: content.type, title: content.title, team: content.team,
            supportsStreams: content.supportsStreams, hasWebpageURL: content.webpageURL != nil,
            age: UInt32(clamping: age), lineage: content.lineage, isExclusive: content.isExclusive)
    }
}
