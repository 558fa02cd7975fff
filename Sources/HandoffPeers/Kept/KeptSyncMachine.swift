package import HandoffModel

/// Decides which records of kept activities are fetched from which member and forwarded to which
/// members. Plain values with time as a parameter; `KeptSync` sends and receives.
///
/// Members whose hellos show another digest are compared one at a time, so that each record is
/// fetched once. A member that answers slowly, or always announces another digest, delays the others
/// by at most `pullTimeout` each `pullInterval`.
package struct KeptSyncMachine {
    /// A request or a hello to a member.
    package enum Effect: Equatable {
        /// Request the names of its records.
        case requestNames(DeviceID)
        /// Request records.
        case fetch([KeptName], from: DeviceID)
        /// Send it a hello, over a new connection if there is none. It then compares its records.
        case greet(DeviceID)
    }

    /// Records, and the members to which they are forwarded.
    package struct Forward {
        package let records: [SentKeptRecord]
        package let targets: Set<DeviceID>
    }

    /// The limits and the last hello of a member.
    private struct Member {
        /// True if it has sent a hello since it came online.
        var isKnown = false
        /// True if it keeps activities, by its last hello.
        var isKeeper = false
        /// The digest in its last hello; nil if it has no records.
        var digest: [UInt8]?
        /// Its requests: a new state of its activities every 30 s, all of them when it goes to sleep,
        /// and all records of the account when it returns.
        var requests = RateLimit(perSecond: 2, burst: 32)
        /// Its messages whose records are forwarded. Less than the requests: the receivers count a
        /// forwarded message as one of this device.
        var forwards = RateLimit(every: .seconds(2), burst: 12)
        /// The members to which it has sent new records, as it states.
        var receivers: Set<DeviceID> = []
        /// The comparisons with it.
        var pulls = RateLimit(every: pullInterval, burst: 8)
    }

    /// A comparison.
    private struct Pull {
        let device: DeviceID
        let deadline: MonotonicInstant
        /// The names that are still to be fetched; nil before the names have arrived.
        var names: [KeptName]?
        /// The names in the pending request.
        var requested: Set<KeptName> = []
        var hasStored = false
    }

    /// The maximum number of names in a list of all of them, as many as an account can have.
    package static let maxNames = 4096
    /// The maximum number of records in one message. Each may cost the check of a signature.
    package static let maxRecords = 128
    /// The maximum time of one comparison.
    static let pullTimeout = Duration.seconds(10)
    /// The average time between two comparisons with one member.
    static let pullInterval = Duration.seconds(20)
    /// The delay of a hello to members that have not confirmed a message, to which it was not forwarded,
    /// or that its sender may not have reached.
    static let retryDelay = Duration.seconds(30)
    /// The time after which records that were not stored are fetched again.
    static let refusalTime = Duration.seconds(600)

    /// The records on this device.
    package private(set) var store = KeptStore()
    private var members: [DeviceID: Member] = [:]
    private var pull: Pull?
    /// The members that wait for their comparison.
    private var queue: [DeviceID] = []
    /// The members whose comparison has failed or is too early, and the time of the next attempt.
    private var postponed: Set<DeviceID> = []
    private var retry: MonotonicInstant?
    /// Records that were fetched and not stored.
    private var refused: Set<KeptName> = []
    private var refusedUntil: MonotonicInstant?
    /// The members to which a hello is due, and its time.
    private var unreached: Set<DeviceID> = []
    private var greeting: MonotonicInstant?

    package init() {}

    /// The digest for a hello; nil if there is no record.
    package var digest: [UInt8]? { store.isEmpty ? nil : store.digest }

    /// The time of the next call of `tick` for other reasons than the end of a record.
    package var nextDeadline: MonotonicInstant? { [retry, greeting, pull?.deadline].compactMap(\.self).min() }

    /// Removes all records, and ends all comparisons.
    package mutating func removeAll() {
        self = KeptSyncMachine()
    }

    /// Applies a change of the account.
    package mutating func accountChanged(live: Set<DeviceID>) {
        store.retain(live)
        members = members.filter { live.contains($0.key) }
        queue.removeAll { !live.contains($0) }
        postponed.formIntersection(live)
        unreached.formIntersection(live)
        refused = []
    }

    /// True if no comparison is pending, and no member lacks records that this device was to send.
    package var isSettled: Bool { pull == nil && queue.isEmpty && postponed.isEmpty && unreached.isEmpty }

    // MARK: - Records

    /// Stores records of this device. Returns those that are to be sent. A member may have room although
    /// this device may not lock more memory.
    package mutating func push(_ new: [KeptRecord], _ context: KeptStore.Context) -> [SentKeptRecord] {
        new.filter { [.stored, .refused(.noLockedMemory)].contains(store.merge($0, left: $0.lifetime, context)) }
            .map { SentKeptRecord($0, left: $0.lifetime) }
    }

    /// Returns whether one of these members has not confirmed a message, and was sent no hello since.
    package func hasMissed(_ devices: Set<DeviceID>) -> Bool { !unreached.isDisjoint(with: devices) }

    /// Returns true if a request of a member is answered.
    package mutating func admit(_ device: DeviceID, at now: MonotonicInstant) -> Bool {
        members[device, default: Member()].requests.admit(at: now)
    }

    /// Stores records that a member has sent. Returns the outcomes, and the new records with the
    /// members to which they are forwarded.
    ///
    /// - Parameters:
    ///   - receivers: the members to which the sender has sent them, as it states.
    ///   - keepers: the online members that keep activities.
    package mutating func receive(
        _ sent: [SentKeptRecord], from device: DeviceID, receivers: Set<DeviceID>, keepers: Set<DeviceID>,
        _ context: KeptStore.Context
    ) -> (outcomes: [KeptStore.Outcome], forwards: [Forward]) {
        let outcomes = sent.map { store.merge($0.record, left: $0.left, context) }
        let new = zip(sent, outcomes).filter { $0.1 == .stored }.map(\.0)
        if !new.isEmpty { members[device, default: Member()].receivers.formUnion(receivers.intersection(keepers)) }
        let targets = keepers.subtracting(receivers).subtracting([device])
        guard !new.isEmpty, !targets.isEmpty else { return (outcomes, []) }
        guard members[device, default: Member()].forwards.admit(at: context.now) else {
            missed(targets, at: context.now)
            return (outcomes, [])
        }
        // The signer of a record has it already.
        let forwards = Dictionary(grouping: new, by: \.record.signer)
            .map { Forward(records: $1, targets: targets.subtracting([$0])) }
        return (outcomes, forwards.filter { !$0.targets.isEmpty })
    }

    /// Handles members that have not confirmed a message.
    package mutating func missed(_ devices: Set<DeviceID>, at now: MonotonicInstant) {
        guard !devices.isEmpty else { return }
        unreached.formUnion(devices)
        greeting = greeting ?? now.advanced(by: Self.retryDelay)
    }

    /// Removes the records whose time is over.
    package mutating func expire(at now: MonotonicInstant) {
        store.expire(at: now)
    }

    // MARK: - Comparing

    /// Handles the hello of a member.
    ///
    /// - Parameters:
    ///   - isKeeper: true if it keeps activities.
    ///   - digest: nil if it has no records.
    ///   - shown: the digest in the last hello to it. If it is not the present one, a record has arrived
    ///     since, of which the member may not know.
    package mutating func receivedHello(
        from device: DeviceID, isKeeper: Bool, digest: [UInt8]?, shown: [UInt8]?, at now: MonotonicInstant
    ) -> [Effect] {
        let digest = isKeeper ? digest : nil
        members[device, default: Member()].digest = digest
        members[device]?.isKeeper = isKeeper
        members[device]?.isKnown = true
        let own = self.digest
        guard isKeeper, digest != own else { return next(at: now) }
        if digest != nil, !queue.contains(device) { queue.append(device) }
        return next(at: now) + (shown != own ? [.greet(device)] : [])
    }

    /// Returns true if the records of a member are to be compared: it has sent no hello since it came
    /// online, or another digest. Also after records were pushed, because the sender may have lost
    /// its power before it had reached all members.
    package func needsHello(of device: DeviceID) -> Bool {
        guard let member = members[device], member.isKnown else { return true }
        return member.digest != digest
    }

    /// Handles a member that has gone offline. It may not have reached all receivers of its records.
    package mutating func wentOffline(_ device: DeviceID, at now: MonotonicInstant) {
        missed(members[device]?.receivers ?? [], at: now)
        members[device]?.receivers = []
        members[device]?.digest = nil
        members[device]?.isKnown = false
        members[device]?.isKeeper = false
        disconnected(device)
    }

    /// Handles the end of the last connection with a member. A new one starts with hellos.
    package mutating func disconnected(_ device: DeviceID) {
        queue.removeAll { $0 == device }
        postponed.remove(device)
    }

    /// Handles the names of a member's records; nil if it has not sent them.
    package mutating func receivedNames(
        _ names: [KeptName]?, from device: DeviceID, at now: MonotonicInstant
    ) -> [Effect] {
        guard pull?.device == device, pull?.names == nil else { return [] }
        if names == nil { postpone(device, at: now) }
        if refusedUntil.map({ $0 <= now }) ?? true { refused = [] }
        let missing = (names ?? []).prefix(Self.maxNames).filter { !store.contains($0) && !refused.contains($0) }
        pull?.names = Array(missing)
        return fetch(at: now)
    }

    /// Handles fetched records; nil if the member has not sent them. Returns the records that are
    /// new.
    package mutating func receivedRecords(
        _ sent: [SentKeptRecord]?, from device: DeviceID, _ context: KeptStore.Context
    ) -> (new: [KeptRecord], effects: [Effect]) {
        guard var current = pull, current.device == device, let names = current.names else { return ([], []) }
        var new: [KeptRecord] = []
        var received: Set<KeptName> = []
        for each in sent ?? [] {
            let name = KeptName(of: each.record.encoded)
            guard current.requested.contains(name), received.insert(name).inserted else { continue }
            switch store.merge(each.record, left: each.left, context) {
            case .stored:
                new.append(each.record)
                current.hasStored = true
            case .known: break
            // There may be room as soon as a list has arrived.
            case .refused(.full): break
            case .outdated, .refused: refuse(name, at: context.now)
            }
        }
        // A member that sends none of the requested records is compared later.
        if received.isEmpty { postpone(device, at: context.now) }
        current.names = received.isEmpty ? [] : names.filter { !received.contains($0) && !store.contains($0) }
        pull = current
        return (new, fetch(at: context.now))
    }

    /// Handles the time of `nextDeadline`.
    ///
    /// - Parameter online: the members that are online.
    package mutating func tick(online: Set<DeviceID>, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        if let greeting, greeting <= now {
            let own = digest
            effects = unreached.intersection(online).filter { members[$0]?.digest != own }.sorted().map { .greet($0) }
            unreached = []
            self.greeting = nil
        }
        if let pull, pull.deadline <= now {
            postpone(pull.device, at: now)
            effects += end() + next(at: now)
        }
        if let retry, retry <= now {
            queue += postponed.subtracting(queue).sorted()
            postponed = []
            self.retry = nil
            effects += next(at: now)
        }
        return effects
    }

    /// The members whose last hello shows another digest, or no records.
    private var different: Set<DeviceID> {
        let own = digest
        return Set(members.filter { $0.value.isKeeper && $0.value.digest != own }.keys)
    }

    /// Starts the next comparison.
    private mutating func next(at now: MonotonicInstant) -> [Effect] {
        guard pull == nil, !queue.isEmpty else { return [] }
        let different = different
        var waiting = queue.filter { different.contains($0) && members[$0]?.digest != nil }[...]
        defer { queue = Array(waiting) }
        while let device = waiting.popFirst() {
            guard members[device, default: Member()].pulls.admit(at: now) else {
                postpone(device, at: now)
                continue
            }
            pull = Pull(device: device, deadline: now.advanced(by: Self.pullTimeout))
            return [.requestNames(device)]
        }
        return []
    }

    private mutating func postpone(_ device: DeviceID, at now: MonotonicInstant) {
        postponed.insert(device)
        retry = retry ?? now.advanced(by: Self.pullInterval)
    }

    private mutating func fetch(at now: MonotonicInstant) -> [Effect] {
        guard let names = pull?.names, let device = pull?.device, let deadline = pull?.deadline else { return [] }
        guard !names.isEmpty, now < deadline else {
            if !names.isEmpty { postpone(device, at: now) }
            return end() + next(at: now)
        }
        let batch = Array(names.prefix(Self.maxRecords))
        pull?.requested = Set(batch)
        return [.fetch(batch, from: device)]
    }

    /// Ends the comparison. Members whose last hello shows another digest learn of new records.
    private mutating func end() -> [Effect] {
        let hasStored = pull?.hasStored ?? false
        pull = nil
        return hasStored ? different.sorted().map { .greet($0) } : []
    }

    private mutating func refuse(_ name: KeptName, at now: MonotonicInstant) {
        if refused.isEmpty { refusedUntil = now.advanced(by: Self.refusalTime) }
        if refused.count < Self.maxNames { refused.insert(name) }
    }
}
