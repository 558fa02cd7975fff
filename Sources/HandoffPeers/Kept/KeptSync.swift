import HandoffAccount
import HandoffCrypto
import HandoffJSON
package import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// Exchanges the records of kept activities with the other members that keep activities.
/// `KeptSyncMachine` decides, and this class drives it. Lives on the daemon's loop.
///
/// - `push` sends new records of this device to all online members.
/// - A member that receives a record that is new to it forwards it to the members that the sender
///   has not sent it to. If the sender goes offline, the others receive a hello later, because it may
///   not have reached them.
/// - Two members whose hellos show different digests request the names of each other's records, and
///   fetch those that they lack.
///
/// A device that does not keep activities announces no capability and does not know these methods. It
/// sends only the list that withdraws the copies of a former start.
package final class KeptSync {
    /// The result of `push`.
    package struct Outcome {
        /// The members that have confirmed the records.
        package fileprivate(set) var confirmed: Set<DeviceID> = []
        /// The members that were online and have not confirmed them.
        package fileprivate(set) var missed: Set<DeviceID> = []

        package init() {}
    }

    /// The maximum size of the records in one message, in bytes. In base64 they fit into a frame.
    private static let maxMessageBytes = 700 * 1024
    /// The timeout of one message.
    private static let timeout = Duration.seconds(5)
    /// The delay before a connection to a member that announces records. Most members receive them
    /// from their origin meanwhile.
    private static let searchDelay = Duration.seconds(2)

    private let loop: EventLoop
    private let log: Logger
    private let accountStore: AccountStore
    private let pool: LinkPool
    private let records: PeerRecords
    private unowned let network: PeerNetwork
    private let wallClock: any WallClock
    /// Weak because `Peers` owns this part.
    weak var peers: Peers?
    private var machine = KeptSyncMachine()
    private var expiryTimer: LoopTimer?
    private var machineTimer: LoopTimer?
    private var searchTimer: LoopTimer?
    /// The members that announce records and were not compared yet.
    private var searched: Set<DeviceID> = []

    init(
        loop: EventLoop, log: Logger, accountStore: AccountStore, pool: LinkPool, records: PeerRecords,
        network: PeerNetwork, wallClock: any WallClock
    ) {
        self.loop = loop
        self.log = log
        self.accountStore = accountStore
        self.pool = pool
        self.records = records
        self.network = network
        self.wallClock = wallClock
    }

    /// The records on this device.
    package var store: KeptStore { machine.store }

    /// Whether this device keeps activities. If not, all records are removed.
    package var isOn = false {
        didSet {
            guard isOn != oldValue else { return }
            if !isOn { machine.removeAll() }
            storeChanged()
            rearm()
            for link in records.links { _ = link.sendHello() }
            if isOn { compareAll() }
        }
    }

    /// The digest of the records in the hello; nil if there is none.
    var helloDigest: [UInt8]? { isOn ? machine.digest : nil }

    /// True if there are records.
    var holdsRecords: Bool { isOn && !machine.store.isEmpty }

    /// True if an online member has not confirmed a message of the last 30 seconds.
    package var hasMissed: Bool { machine.hasMissed(keepers) }

    /// True if an online member keeps activities, or may do so.
    package var hasKeepers: Bool { isOn && !keepers.isEmpty }

    /// Applies a change of the account.
    func accountChanged(live: Set<DeviceID>) {
        machine.accountChanged(live: live)
        storeChanged()
        rearm()
    }

    private var context: KeptStore.Context {
        let snapshot = accountStore.snapshot
        return KeptStore.Context(
            now: loop.now, unixSeconds: wallClock.unixSeconds, members: snapshot.live.count, key: snapshot.memberKey)
    }

    // MARK: - Sending

    /// Stores records of this device, and sends them to all online members that keep activities.
    ///
    /// - Parameters:
    ///   - again: records that were stored before, and are sent again.
    ///   - repeatsMissed: true to send all records of this device if an online member has missed one.
    ///   - completion: called once, when each member has answered or failed to.
    package func push(
        _ new: [KeptRecord], again: [KeptRecord] = [], repeatsMissed: Bool = false,
        completion: @escaping (Outcome) -> Void = { _ in }
    ) {
        guard isOn else { return completion(Outcome()) }
        var stored = machine.push(new, context)
        if stored.count < new.count {
            log.error("Some records of this device were not stored", ["number": "\(new.count - stored.count)"])
        }
        if repeatsMissed, hasMissed {
            // New copies that are not in the store, for lack of lockable memory, are sent as well.
            stored =
                store.records(of: accountStore.deviceID, at: loop.now)
                + stored.filter { !store.contains(KeptName(of: $0.record.encoded)) }
        }
        let sent = again.map { SentKeptRecord($0, left: $0.lifetime) } + stored
        storeChanged()
        send(sent, to: keepers, also: [], completion: completion)
    }

    /// The online members that announce records.
    package var holders: Set<DeviceID> { online.filter { network.table[$0]?.holdsKept ?? false } }

    /// Sends the list of a device that keeps no activities to the members that announce records.
    ///
    /// - Parameter completion: called once, when each member has answered or failed to.
    package func withdraw(_ list: KeptRecord, completion: @escaping (Outcome) -> Void) {
        send(
            [SentKeptRecord(list, left: list.lifetime)], to: holders, also: [], withdraws: true,
            completion: completion)
    }

    /// The other members that are online.
    private var online: Set<DeviceID> {
        guard accountStore.snapshot.isCurrent else { return [] }
        return Set(network.table.all.map(\.deviceID)).intersection(accountStore.snapshot.others)
    }

    /// The online members that keep activities, or whose capabilities are unknown.
    package var keepers: Set<DeviceID> { online.filter { records[$0].keepsActivities != false } }

    private func send(
        _ sent: [SentKeptRecord], to targets: Set<DeviceID>, also others: Set<DeviceID>, withdraws: Bool = false,
        completion: @escaping (Outcome) -> Void = { _ in }
    ) {
        guard !sent.isEmpty, !targets.isEmpty else { return completion(Outcome()) }
        let batches = Self.batches(sent)
        let receivers = JSON.array(targets.union(others).sorted().map { .string($0.hex) })
        var outcome = Outcome()
        var waiting = targets.count
        for device in targets {
            send(batches[...], receivers, to: device, withdraws: withdraws) { [self] isConfirmed in
                if isConfirmed { outcome.confirmed.insert(device) } else { outcome.missed.insert(device) }
                waiting -= 1
                guard waiting == 0 else { return }
                if isOn { machine.missed(outcome.missed.intersection(keepers), at: loop.now) }
                rearm()
                completion(outcome)
            }
        }
    }

    /// Sends messages one after the other.
    ///
    /// - Parameter withdraws: true to send them also if this device keeps no activities.
    private func send(
        _ batches: ArraySlice<[JSON]>, _ receivers: JSON, to device: DeviceID, withdraws: Bool, mayRetry: Bool = true,
        completion: @escaping (Bool) -> Void
    ) {
        guard let batch = batches.first else { return completion(true) }
        guard let link = pool.link(to: device) else { return completion(false) }
        let checkTimer = link.isEstablished ? pool.checkTimer(for: link) : nil
        link.whenEstablished { [self] isEstablished in
            guard isEstablished, isOn || withdraws, records[device].keepsActivities == true else {
                return completion(false)
            }
            link.request(
                PeerMethod.keep, ["records": .array(batch), "receivers": receivers], timeout: Self.timeout
            ) { [self] outcome in
                checkTimer?.cancel()
                switch outcome {
                case .answered(.result):
                    send(batches.dropFirst(), receivers, to: device, withdraws: withdraws, completion: completion)
                case .lost where mayRetry && checkTimer != nil:
                    // The warm connection had ended unnoticed.
                    send(batches, receivers, to: device, withdraws: withdraws, mayRetry: false, completion: completion)
                default: completion(false)
                }
            }
        }
    }

    /// Divides records among messages, each in the form of a message.
    private static func batches(_ sent: [SentKeptRecord]) -> [[JSON]] {
        var batches: [[JSON]] = [[]]
        var size = 0
        for each in sent {
            let encoded = each.record.encoded
            let last = batches.count - 1
            let isFull = size + encoded.count > maxMessageBytes || batches[last].count == KeptSyncMachine.maxRecords
            if isFull, !batches[last].isEmpty {
                batches.append([])
                size = 0
            }
            size += encoded.count
            batches[batches.count - 1].append(each.json(encoded))
        }
        return batches
    }

    // MARK: - Receiving

    /// Answers a request about kept activities; nil if it is another request, or none is kept here.
    func answer(_ request: PeerRequest, from device: DeviceID) -> PeerResponse.Outcome? {
        let methods = [PeerMethod.keep, PeerMethod.kept, PeerMethod.fetchKept]
        guard isOn, methods.contains(request.method) else { return nil }
        guard machine.admit(device, at: loop.now) else { return refusal("too many requests about kept activities") }
        switch request.method {
        case PeerMethod.keep: return keep(request.parameters, from: device)
        case PeerMethod.kept: return .result(["names": .array(store.allNames.map { .string($0.hex) })])
        default: return fetched(request.parameters)
        }
    }

    private func refusal(_ cause: String) -> PeerResponse.Outcome {
        let name = accountStore.snapshot.label(of: accountStore.deviceID)
        return .failure(.rejected(device: name, cause: cause))
    }

    private func keep(_ parameters: JSONObject, from device: DeviceID) -> PeerResponse.Outcome {
        guard let sent = SentKeptRecord.list(parameters) else { return refusal("the records are invalid") }
        let receivers = Set(
            (parameters["receivers"]?.array ?? []).compactMap { $0.string.flatMap(DeviceID.init(hex:)) })
        let (outcomes, forwards) = machine.receive(
            sent, from: device, receivers: receivers, keepers: keepers, context)
        // At most one line for a message: a member may send many invalid records.
        let refusals = outcomes.filter { if case .refused = $0 { true } else { false } }
        if let first = refusals.first {
            log.debug(
                "Did not keep records",
                ["from": device.short, "number": "\(refusals.count)", "first": "\(first)"])
        }
        stored(zip(sent, outcomes).filter { $0.1 == .stored }.map(\.0.record))
        for forward in forwards {
            send(forward.records, to: forward.targets, also: receivers.union([device, accountStore.deviceID]))
        }
        rearm()
        return .result([:])
    }

    private func fetched(_ parameters: JSONObject) -> PeerResponse.Outcome {
        let names = (parameters["names"]?.array ?? []).prefix(KeptSyncMachine.maxRecords)
        var elements: [JSON] = []
        var size = 0
        for name in names.compactMap({ $0.string.flatMap(KeptName.init(hex:)) }) {
            guard let sent = store.record(name, at: loop.now) else { continue }
            let encoded = sent.record.encoded
            guard elements.isEmpty || size + encoded.count <= Self.maxMessageBytes else { break }
            size += encoded.count
            elements.append(sent.json(encoded))
        }
        return .result(["records": .array(elements)])
    }

    /// Handles new records of other devices.
    private func stored(_ new: [KeptRecord]) {
        guard !new.isEmpty else { return }
        storeChanged()
        peers?.delegate?.keptChanged(new)
    }

    // MARK: - Comparing

    /// Compares the records with those of a member that has sent a hello.
    func compare(_ hello: Hello, over link: PeerLink) {
        // Copies may wait for the first member that keeps them.
        let isNewKeeper = isOn && hello.keepsActivities && records[link.device].keepsActivities != true
        defer { if isNewKeeper { peers?.delegate?.keptChanged([]) } }
        records[link.device].keepsActivities = hello.keepsActivities
        searched.remove(link.device)
        guard isOn else { return }
        perform(
            machine.receivedHello(
                from: link.device, isKeeper: hello.keepsActivities, digest: hello.keptDigest,
                shown: link.sentHello?.keptDigest, at: loop.now))
    }

    /// Handles the end of a link.
    func ended(_ link: PeerLink) {
        if pool.established(to: link.device) == nil { machine.disconnected(link.device) }
    }

    /// Compares the records with those of all online members.
    private func compareAll() {
        for link in records.links {
            if let hello = link.peerHello { compare(hello, over: link) }
        }
        for peer in network.table.all where peer.holdsKept { search(peer.deviceID) }
    }

    /// Handles a member that has gone offline.
    func wentOffline(_ device: DeviceID) {
        machine.wentOffline(device, at: loop.now)
        rearm()
    }

    /// Connects soon to a member that announces records, unless its hello arrives first. Called when
    /// the member comes online and with each of its new labels.
    func search(_ device: DeviceID) {
        guard isOn else { peers?.delegate?.keptChanged([]); return }
        guard machine.needsHello(of: device) else { return }
        searched.insert(device)
        guard searchTimer?.isArmed != true else { return }
        searchTimer = loop.timer(after: Self.searchDelay, accuracy: .seconds(1)) { [unowned self] in
            let devices = searched
            searched = []
            for device in devices where isOn && network.table[device]?.holdsKept == true {
                _ = pool.link(to: device)
            }
        }
    }

    private func perform(_ effects: [KeptSyncMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .requestNames(let device):
                request(PeerMethod.kept, [:], of: device) { [self] result in
                    let names = result?["names"]?.array?.prefix(KeptSyncMachine.maxNames)
                        .compactMap { $0.string.flatMap(KeptName.init(hex:)) }
                    perform(machine.receivedNames(names, from: device, at: loop.now))
                }
            case .fetch(let names, let device):
                let parameters: JSONObject = ["names": .array(names.map { .string($0.hex) })]
                request(PeerMethod.fetchKept, parameters, of: device) { [self] result in
                    let sent = result.flatMap(SentKeptRecord.list)
                    let (new, effects) = machine.receivedRecords(sent, from: device, context)
                    stored(new)
                    perform(effects)
                }
            case .greet(let device): greet(device)
            }
        }
        rearm()
    }

    /// Sends a request over an open connection. The completion has nil if there is no result.
    private func request(
        _ method: String, _ parameters: JSONObject, of device: DeviceID, completion: @escaping (JSONObject?) -> Void
    ) {
        guard let link = pool.established(to: device) else {
            // In a later turn, because the machine waits for the answer.
            return loop.later { [self] in
                completion(nil)
                machine.disconnected(device)
            }
        }
        link.request(method, parameters, timeout: Self.timeout) { outcome in
            guard case .answered(.result(let result)) = outcome else { return completion(nil) }
            completion(result)
        }
    }

    private func greet(_ device: DeviceID) {
        // A new connection starts with a hello.
        if pool.established(to: device)?.sendHello() != true, online.contains(device) { _ = pool.link(to: device) }
    }

    // MARK: - Timers

    /// Announces whether there are records, and schedules the end of the first.
    private func storeChanged() {
        network.announce()
        guard let next = store.nextDeadline else {
            expiryTimer = nil
            return
        }
        expiryTimer = loop.timer(after: loop.now.duration(to: next), accuracy: .seconds(60)) { [unowned self] in
            machine.expire(at: loop.now)
            storeChanged()
            peers?.delegate?.keptChanged([])
        }
    }

    private func rearm() {
        guard let next = machine.nextDeadline else {
            machineTimer = nil
            return
        }
        machineTimer = loop.timer(after: loop.now.duration(to: next), accuracy: .seconds(1)) { [unowned self] in
            perform(machine.tick(online: online, at: loop.now))
        }
    }
}
