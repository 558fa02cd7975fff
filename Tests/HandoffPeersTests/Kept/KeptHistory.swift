import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol

/// A random history of four devices that keep each other's activities: they publish, edit, end and
/// continue, sleep, lose their power, separate, are removed, and replace the account key. The
/// devices are `KeptSyncMachine`s and the network is a queue of messages for each direction.
///
/// `KeptModel` has all signed records and knows which device has received which. It decides from
/// these sets alone if a device may continue a state, and which receipts must reach their origin.
struct KeptHistory {
    /// The violated rules.
    private(set) var failures: [String] = []
    /// The number of continued copies, and of receipts that reached their origin.
    private(set) var continued = 0
    private(set) var delivered = 0
    private var random: SplitMix
    private var devices: [SimulatedDevice]
    private var model = KeptModel()
    private var separated: Set<Link> = []
    /// The open connections, with the messages of both directions.
    private var queues: [Link: [(from: Int, message: Message)]] = [:]
    private var seconds: UInt64 = 0
    private var epoch = 0
    private var hasRemoved = false
    /// True if records were lost with their sender or its connection, until the next hellos of all.
    private var hasLoss = false

    private static let keys: [SigningKey] = (0..<4).compactMap { number in
        try? SigningKey(seed: SecretBytes(copying: [UInt8](repeating: UInt8(number + 1), count: 32)))
    }
    private static let ids = keys.map { DeviceID($0.publicKey) }
    private static let start: UInt64 = 1_800_000_000

    private struct Link: Hashable {
        let low: Int
        let high: Int

        init(_ one: Int, _ other: Int) {
            (low, high) = (min(one, other), max(one, other))
        }

        func other(_ device: Int) -> Int { device == low ? high : low }
        func contains(_ device: Int) -> Bool { device == low || device == high }
    }

    private enum Message {
        case hello([UInt8]?)
        case keep([SentKeptRecord], receivers: Set<DeviceID>)
        case kept
        case names([KeptName]?)
        case fetch([KeptName])
        case records([SentKeptRecord]?)
        /// The answer to `keep`.
        case done(Bool)
        /// The statements of the roster, and then the account key.
        case roster(Set<DeviceID>, epoch: Int)
        case accountKey(Int)

        var hasRecords: Bool {
            if case .keep = self { true } else { false }
        }
    }

    private struct SimulatedDevice {
        var machine = KeptSyncMachine()
        var isAwake = true
        var generation: UInt64 = 1
        var seq: UInt32 = 0
        var time: UInt64 = 0
        var firstGeneration: UInt64 = 1
        /// The live activities, each with the lifetime of its copies.
        var activities: [ActivityID: UInt64] = [:]
        /// All activities of this generation.
        var issued: Set<ActivityID> = []
        var removed: Set<DeviceID> = []
        var rosterEpoch = 0
        var heldEpoch = 0
        /// The receipts that were reported to the apps.
        var reported: [KeptReceipt] = []
        /// The members whose answer is awaited, by the kind of request.
        var awaited: Set<Awaited> = []
        /// The digest in the last hello to each device.
        var shown: [Int: [UInt8]?] = [:]
    }

    private struct Awaited: Hashable {
        let device: Int
        let kind: Kind

        enum Kind { case names, records, done }
    }

    /// Plays a history, and then connects all devices until nothing changes.
    init(seed: UInt64, steps: Int = 150) throws {
        random = SplitMix(seed: seed)
        devices = (0..<4).map { _ in SimulatedDevice() }
        connect()
        for _ in 0..<steps {
            if Int.random(in: 0..<3, using: &random) == 0 {
                try act()
            } else {
                for _ in 0..<Int.random(in: 1...6, using: &random) { deliverOne() }
            }
        }
        settle()
    }

    // MARK: - Events

    private mutating func act() throws {
        checkLinks()
        let number = Int.random(in: 0..<4, using: &random)
        guard devices[number].isAwake else {
            guard Bool.random(using: &random) else { return }
            wake(number)
            // After a restart, the user may not want the former activities.
            let hasRestarted = devices[number].generation > 1 && devices[number].issued.isEmpty
            if hasRestarted, Int.random(in: 0..<4, using: &random) == 0 { try withdrawAll(number) }
            return
        }
        switch Int.random(in: 0..<100, using: &random) {
        case ..<18: try publish(number)
        case ..<30: try edit(number)
        case ..<40: try end(number)
        case ..<60: try continueKept(number)
        case ..<68: sleep(number)
        case ..<75: cutPower(number)
        case ..<79: try withdrawAll(number)
        case ..<86: separate(Link(number, (number + Int.random(in: 1...3, using: &random)) % 4))
        case ..<88: remove((number + Int.random(in: 1...3, using: &random)) % 4, by: number)
        case ..<91: rotate(number)
        default:
            pass([1, 40, 700, 4_000, 20_000].randomElement(using: &random) ?? 1)
            connect()
        }
    }

    private mutating func publish(_ number: Int) throws {
        guard devices[number].activities.count < 6 else { return }
        let activity = ActivityID(checked: (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
        devices[number].activities[activity] = Bool.random(using: &random) ? 3_600 : KeptLimits.lifetime
        devices[number].issued.insert(activity)
        devices[number].seq += 1
        try save(number, [activity])
    }

    private mutating func edit(_ number: Int) throws {
        guard let activity = devices[number].activities.keys.sorted().randomElement(using: &random) else { return }
        try save(number, [activity])
    }

    private mutating func end(_ number: Int) throws {
        guard let activity = devices[number].activities.keys.sorted().randomElement(using: &random) else { return }
        devices[number].activities[activity] = nil
        devices[number].seq += 1
        try save(number, [])
    }

    private mutating func withdrawAll(_ number: Int) throws {
        devices[number].firstGeneration = devices[number].generation
        devices[number].activities = [:]
        devices[number].seq += 1
        try save(number, [])
    }

    /// Signs and sends copies of these activities, and the list of all.
    private mutating func save(_ number: Int, _ activities: [ActivityID]) throws {
        var new: [KeptRecord] = []
        for activity in activities {
            let stamp = stamp(number)
            let lifetime = devices[number].activities[activity] ?? 0
            let payload = Array(#"{"type":"org.example.note","title":"\#(stamp.time)"}"#.utf8)
            let copy = try KeptCopy(
                origin: Self.ids[number], stamp: stamp, activity: activity, end: stamp.time + lifetime,
                payload: payload, key: Self.keys[number])
            if let copy { new.append(.copy(copy)) }
        }
        let stamp = stamp(number)
        let list = try KeptList(
            origin: Self.ids[number], stamp: stamp, firstGeneration: devices[number].firstGeneration,
            end: stamp.time + KeptLimits.lifetime, activities: devices[number].activities.keys.sorted(),
            key: Self.keys[number])
        if let list { new.append(.list(list)) }
        push(number, new)
    }

    private mutating func stamp(_ number: Int) -> KeptStamp {
        devices[number].time = max(devices[number].time + 1, Self.start + seconds)
        let position = Position(generation: devices[number].generation, seq: devices[number].seq)
        return KeptStamp(position: position, time: devices[number].time)
    }

    private mutating func continueKept(_ number: Int) throws {
        devices[number].machine.expire(at: now)
        let offers = devices[number].machine.store.activities.filter { $0.origin != Self.ids[number] }
        guard let kept = offers.randomElement(using: &random) else { return }
        continued += 1
        // After the messages have arrived, the connected devices know the same.
        let known = isSettled ? [number] + linked(number) : [number]
        for device in known {
            if devices[device].removed.contains(kept.origin) {
                failures.append("\(number) continued the copy of a removed device, known to \(device)")
            }
            if let reason = model.obstacle(to: kept, knownBy: device) {
                failures.append("\(number) continued a copy that \(reason), known to \(device)")
            }
        }
        let receipt = try KeptReceipt(
            device: Self.ids[number], origin: kept.origin, activity: kept.summary.id, time: stamp(number).time,
            key: Self.keys[number])
        push(number, [.receipt(receipt)])
    }

    /// True if all messages have arrived, and all comparisons have ended.
    private var isSettled: Bool {
        !hasLoss && queues.values.allSatisfy(\.isEmpty) && devices.allSatisfy { $0.machine.isSettled }
    }

    /// Connected devices have the same records after the messages have arrived.
    private mutating func checkLinks() {
        let areEqual = queues.keys.allSatisfy { devices[$0.low].machine.digest == devices[$0.high].machine.digest }
        if isSettled, !areEqual { failures.append("connected stores differ") }
    }

    private mutating func push(_ number: Int, _ new: [KeptRecord]) {
        let sent = devices[number].machine.push(new, context(number))
        model.received(sent.map(\.record), by: number)
        let targets = keepers(number)
        let receivers = Set(targets.map { Self.ids[$0] })
        for target in targets where !sent.isEmpty {
            send(.keep(sent, receivers: receivers), number, target, awaiting: .done)
        }
    }

    private mutating func sleep(_ number: Int) {
        devices[number].isAwake = false
        // Members that have not received its records do not know of them.
        if !devices[number].machine.isSettled { hasLoss = true }
        disconnect { $0.contains(number) }
    }

    private mutating func cutPower(_ number: Int) {
        sleep(number)
        devices[number].machine = KeptSyncMachine()
        devices[number].generation += 1
        devices[number].seq = 0
        devices[number].activities = [:]
        devices[number].issued = []
        devices[number].firstGeneration = 1
        model.forget(number)
    }

    private mutating func wake(_ number: Int) {
        devices[number].isAwake = true
        devices[number].machine.expire(at: now)
        connect()
    }

    private mutating func separate(_ link: Link) {
        if separated.remove(link) == nil {
            separated.insert(link)
            disconnect { $0 == link }
        } else {
            connect()
        }
    }

    private mutating func remove(_ victim: Int, by number: Int) {
        guard !hasRemoved, devices[number].removed.isEmpty else { return }
        hasRemoved = true
        learn(number, removed: [Self.ids[victim]], epoch: epoch)
        createEpoch(number)
    }

    private mutating func rotate(_ number: Int) {
        if devices[number].heldEpoch == devices[number].rosterEpoch { createEpoch(number) }
    }

    private mutating func createEpoch(_ number: Int) {
        epoch += 1
        learn(number, removed: [], epoch: epoch)
        devices[number].heldEpoch = epoch
        spread(from: number)
    }

    private mutating func spread(from number: Int) {
        for other in linked(number) { sendAccount(number, other) }
    }

    private mutating func sendAccount(_ number: Int, _ other: Int) {
        send(.roster(devices[number].removed, epoch: devices[number].rosterEpoch), number, other)
        send(.accountKey(devices[number].heldEpoch), number, other)
    }

    private mutating func learn(_ number: Int, removed: Set<DeviceID>, epoch: Int) {
        devices[number].removed.formUnion(removed)
        devices[number].rosterEpoch = max(devices[number].rosterEpoch, epoch)
        devices[number].machine.accountChanged(live: live(number))
        let ended = devices[number].removed
        disconnect { $0.contains(number) && ended.contains(Self.ids[$0.other(number)]) }
    }

    private mutating func pass(_ time: UInt64) {
        // Messages that take longer than their timeout are lost with their connections.
        if time > 5 {
            let pending = Set(queues.filter { !$0.value.isEmpty }.keys)
            disconnect(pending.contains)
        }
        seconds += time
        for number in devices.indices where devices[number].isAwake {
            devices[number].machine.expire(at: now)
            tick(number)
            // The key of the epoch in force has not arrived.
            if time > 30, devices[number].heldEpoch < devices[number].rosterEpoch { createEpoch(number) }
        }
        if time > 1_200 { renewLabels() }
    }

    /// Each device has a new label after 20 minutes. Then others compare their records with it.
    private mutating func renewLabels() {
        hasLoss = false
        for (from, to) in queues.keys.flatMap({ [($0.low, $0.high), ($0.high, $0.low)] }).sorted(by: <)
        where devices[to].machine.needsHello(of: Self.ids[from]) {
            send(.hello(devices[from].machine.digest), from, to)
            send(.hello(devices[to].machine.digest), to, from)
        }
    }

    private mutating func tick(_ number: Int) {
        guard let deadline = devices[number].machine.nextDeadline, deadline <= now else { return }
        let online = Set(linked(number).map { Self.ids[$0] })
        perform(devices[number].machine.tick(online: online, at: now), by: number)
    }

    // MARK: - The network

    private var now: MonotonicInstant { MonotonicInstant(nanoseconds: (seconds + 1) * 1_000_000_000) }

    private func live(_ number: Int) -> Set<DeviceID> { Set(Self.ids).subtracting(devices[number].removed) }

    private func context(_ number: Int) -> KeptStore.Context {
        let removed = devices[number].removed
        return KeptStore.Context(now: now, unixSeconds: Self.start + seconds, members: 4 - removed.count) { id in
            removed.contains(id) ? nil : Self.ids.firstIndex(of: id).map { Self.keys[$0].publicKey }
        }
    }

    private func linked(_ number: Int) -> [Int] {
        queues.keys.filter { $0.contains(number) }.map { $0.other(number) }.sorted()
    }

    /// The devices to which records are sent; none while the account key is missing.
    private func keepers(_ number: Int) -> [Int] {
        devices[number].heldEpoch == devices[number].rosterEpoch ? linked(number) : []
    }

    /// Connects all devices that can reach each other. Each connection starts with the account and
    /// the hellos.
    private mutating func connect() {
        for low in 0..<4 {
            for high in low + 1..<4 {
                let link = Link(low, high)
                guard queues[link] == nil, !separated.contains(link), devices[low].isAwake, devices[high].isAwake,
                    !devices[low].removed.contains(Self.ids[high]), !devices[high].removed.contains(Self.ids[low])
                else { continue }
                queues[link] = []
                for (from, to) in [(low, high), (high, low)] {
                    sendAccount(from, to)
                    send(.hello(devices[from].machine.digest), from, to)
                }
            }
        }
    }

    /// Ends connections. Each request without an answer fails.
    private mutating func disconnect(_ isEnded: (Link) -> Bool) {
        for link in queues.keys.sorted(by: { ($0.low, $0.high) < ($1.low, $1.high) }) where isEnded(link) {
            if queues[link]?.contains(where: \.message.hasRecords) ?? false { hasLoss = true }
            queues[link] = nil
            for number in [link.low, link.high] {
                let other = link.other(number)
                for awaited in devices[number].awaited where awaited.device == other {
                    devices[number].awaited.remove(awaited)
                    let answer: Message =
                        switch awaited.kind {
                        case .names: .names(nil)
                        case .records: .records(nil)
                        case .done: .done(false)
                        }
                    if devices[number].isAwake { receive(answer, at: number, from: other) }
                }
                devices[number].machine.disconnected(Self.ids[other])
            }
        }
    }

    private mutating func send(_ message: Message, _ from: Int, _ to: Int, awaiting kind: Awaited.Kind? = nil) {
        guard queues[Link(from, to)] != nil else { return }
        if case .hello(let digest) = message { devices[from].shown[to] = digest }
        if let kind { devices[from].awaited.insert(Awaited(device: to, kind: kind)) }
        queues[Link(from, to)]?.append((from, message))
    }

    private mutating func deliverOne() {
        let links = queues.filter { !$0.value.isEmpty }.keys.sorted { ($0.low, $0.high) < ($1.low, $1.high) }
        guard let link = links.randomElement(using: &random), let first = queues[link]?.removeFirst() else { return }
        receive(first.message, at: link.other(first.from), from: first.from)
    }

    private mutating func receive(_ message: Message, at number: Int, from other: Int) {
        let sender = Self.ids[other]
        let isCurrent = devices[number].heldEpoch == devices[number].rosterEpoch
        switch message {
        case .hello(let digest):
            let effects = devices[number].machine.receivedHello(
                from: sender, isKeeper: true, digest: digest, shown: devices[number].shown[other] ?? nil, at: now)
            perform(effects, by: number)
        case .keep(let sent, let receivers):
            guard isCurrent, devices[number].machine.admit(sender, at: now) else {
                return send(.done(false), number, other)
            }
            keep(sent, receivers, at: number, from: other)
            send(.done(true), number, other)
        case .done(let isConfirmed):
            devices[number].awaited.remove(Awaited(device: other, kind: .done))
            guard !isConfirmed else { return }
            hasLoss = true
            devices[number].machine.missed([sender], at: now)
        case .kept:
            let isAdmitted = isCurrent && devices[number].machine.admit(sender, at: now)
            send(.names(isAdmitted ? devices[number].machine.store.allNames : nil), number, other)
        case .names(let names):
            devices[number].awaited.remove(Awaited(device: other, kind: .names))
            perform(devices[number].machine.receivedNames(names, from: sender, at: now), by: number)
        case .fetch(let names):
            let isAdmitted = isCurrent && devices[number].machine.admit(sender, at: now)
            // Three records fit in a message.
            let sent = names.compactMap { devices[number].machine.store.record($0, at: now) }.prefix(3)
            send(.records(isAdmitted ? Array(sent) : nil), number, other)
        case .records(let sent):
            devices[number].awaited.remove(Awaited(device: other, kind: .records))
            let (new, effects) = devices[number].machine.receivedRecords(sent, from: sender, context(number))
            note(new, at: number)
            perform(effects, by: number)
        case .roster(let removed, let epoch):
            guard !removed.subtracting(devices[number].removed).isEmpty || epoch > devices[number].rosterEpoch else {
                return
            }
            learn(number, removed: removed.subtracting([Self.ids[number]]), epoch: epoch)
            spread(from: number)
        case .accountKey(let epoch):
            guard epoch == devices[number].rosterEpoch, devices[number].heldEpoch < epoch else { return }
            devices[number].heldEpoch = epoch
            // A hello announces the new epoch.
            for peer in linked(number) {
                send(.accountKey(epoch), number, peer)
                send(.hello(devices[number].machine.digest), number, peer)
            }
            for peer in linked(number) { send(.hello(devices[peer].machine.digest), peer, number) }
        }
    }

    private mutating func keep(_ sent: [SentKeptRecord], _ receivers: Set<DeviceID>, at number: Int, from other: Int) {
        let (outcomes, forwards) = devices[number].machine.receive(
            sent, from: Self.ids[other], receivers: receivers, keepers: Set(keepers(number).map { Self.ids[$0] }),
            context(number))
        note(zip(sent, outcomes).filter { $0.1 == .stored }.map(\.0.record), at: number)
        for forward in forwards {
            let all = receivers.union(forward.targets).union([Self.ids[other], Self.ids[number]])
            for target in linked(number) where forward.targets.contains(Self.ids[target]) {
                send(.keep(forward.records, receivers: all), number, target, awaiting: .done)
            }
        }
    }

    /// Handles new records, as the daemon does: an app learns of a receipt for one of its activities.
    private mutating func note(_ new: [KeptRecord], at number: Int) {
        model.received(new, by: number)
        for case .receipt(let receipt) in new
        where receipt.origin == Self.ids[number] && devices[number].issued.contains(receipt.activity) {
            if devices[number].reported.contains(receipt) { failures.append("a receipt was reported twice") }
            devices[number].reported.append(receipt)
            delivered += 1
        }
    }

    private mutating func perform(_ effects: [KeptSyncMachine.Effect], by number: Int) {
        for effect in effects {
            switch effect {
            case .requestNames(let device): request(.kept, .names, number, device, .names(nil))
            case .fetch(let names, let device): request(.fetch(names), .records, number, device, .records(nil))
            case .greet(let device):
                guard let other = Self.ids.firstIndex(of: device) else { continue }
                send(.hello(devices[number].machine.digest), number, other)
            }
        }
    }

    private mutating func request(
        _ message: Message, _ kind: Awaited.Kind, _ number: Int, _ device: DeviceID, _ failure: Message
    ) {
        guard let other = Self.ids.firstIndex(of: device), queues[Link(number, other)] != nil else {
            if let other = Self.ids.firstIndex(of: device) { receive(failure, at: number, from: other) }
            return
        }
        send(message, number, other, awaiting: kind)
    }

    // MARK: - The end

    private mutating func settle() {
        separated = []
        for number in devices.indices where !devices[number].isAwake { wake(number) }
        connect()
        for _ in 0..<40 {
            while queues.values.contains(where: { !$0.isEmpty }) { deliverOne() }
            pass(15)
            connect()
        }
        pass(1_201)
        connect()
        while queues.values.contains(where: { !$0.isEmpty }) { deliverOne() }
        let members = devices.indices.filter { !devices[$0].removed.contains(Self.ids[$0]) && !isRemoved($0) }
        let digests = Set(members.map { devices[$0].machine.digest ?? [] })
        if digests.count > 1 {
            failures.append("the stores differ: \(members.map { devices[$0].machine.store.count })")
        }
        for number in members {
            let (issued, reported) = (devices[number].issued, devices[number].reported)
            let isMissing = model.receipts(of: Self.ids[number], knownByAny: members).contains {
                issued.contains($0.activity) && !reported.contains($0) && !isRemoved($0.device)
                    && $0.time + KeptLimits.lifetime > Self.start + seconds
            }
            if isMissing { failures.append("a receipt did not reach its origin") }
        }
    }

    private func isRemoved(_ number: Int) -> Bool { isRemoved(Self.ids[number]) }

    private func isRemoved(_ id: DeviceID) -> Bool { devices.contains { $0.removed.contains(id) } }
}

/// All records that each device has received since it was last without power.
private struct KeptModel {
    private var received: [Int: [KeptRecord]] = [:]

    mutating func received(_ records: [KeptRecord], by device: Int) {
        received[device, default: []] += records
    }

    mutating func forget(_ device: Int) { received[device] = nil }

    /// Returns the reason why a device must not continue a copy; nil if there is none.
    func obstacle(to kept: KeptStore.Kept, knownBy device: Int) -> String? {
        for record in received[device] ?? [] where record.signer == kept.origin {
            switch record {
            case .list(let list):
                if list.firstGeneration > kept.stamp.position.generation { return "was withdrawn with its generation" }
                let isSame = kept.stamp.position.generation == list.stamp.position.generation
                if isSame, kept.stamp < list.stamp, !list.activities.contains(kept.summary.id) {
                    return "was withdrawn"
                }
            case .copy(let copy):
                if copy.activity == kept.summary.id, kept.stamp < copy.stamp { return "was replaced" }
            case .receipt: break
            }
        }
        return nil
    }

    func receipts(of origin: DeviceID, knownByAny devices: [Int]) -> Set<KeptReceipt> {
        var found: Set<KeptReceipt> = []
        for device in devices {
            for case .receipt(let receipt) in received[device] ?? [] where receipt.origin == origin {
                found.insert(receipt)
            }
        }
        return found
    }
}

/// SplitMix64: the same sequence on every machine.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
