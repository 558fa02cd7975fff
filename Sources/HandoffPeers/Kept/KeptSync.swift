import HandoffAccount
import HandoffCrypto
import HandoffJSON
package import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// Exchanges the records of kept activities with the other members that keep activities. Lives on
/// the daemon's loop.
///
/// - `push` sends new records of this device to all online members.
/// - A member that receives a record that is new to it forwards it to the members that the sender
///   has not sent it to.
/// - Two members whose hellos show different digests request the names of each other's records, and
///   fetch those that they lack.
///
/// A device that does not keep activities announces no capability, sends none of these messages, and
/// does not know their methods.
package final class KeptSync {
    /// The result of `push`.
    package struct Outcome {
        /// The members that have confirmed the records.
        package fileprivate(set) var confirmed: Set<DeviceID> = []
        /// The members that were online and have not confirmed them.
        package fileprivate(set) var missed: Set<DeviceID> = []

        package init() {}
    }

    /// The maximum number of names in one message.
    private static let maxNames = 2048
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
    /// Weak because `Peers` owns this part.
    weak var peers: Peers?
    /// The records on this device.
    package private(set) var store = KeptStore()
    private var timer: LoopTimer?
    private var searchTimer: LoopTimer?
    /// The members that announce records and were not compared yet.
    private var searched: Set<DeviceID> = []
    /// The members whose names are being requested.
    private var pulls: Set<DeviceID> = []
    /// The names of fetched records that are not stored, so that they are not fetched again.
    private var refused: Set<KeptName> = []

    init(
        loop: EventLoop, log: Logger, accountStore: AccountStore, pool: LinkPool, records: PeerRecords,
        network: PeerNetwork
    ) {
        self.loop = loop
        self.log = log
        self.accountStore = accountStore
        self.pool = pool
        self.records = records
        self.network = network
    }

    /// Whether this device keeps activities. If not, all records are removed.
    package var isOn = false {
        didSet {
            guard isOn != oldValue else { return }
            if !isOn { store.removeAll() }
            storeChanged()
            for link in records.links { _ = link.sendHello() }
        }
    }

    /// The digest of the records in the hello; nil if there is none.
    var helloDigest: UInt64? { isOn && !store.isEmpty ? store.digest : nil }

    /// True if an online member keeps activities, or may do so.
    package var hasKeepers: Bool { isOn && !targets(excluding: []).isEmpty }

    /// Applies a change of the account.
    func accountChanged(live: Set<DeviceID>) {
        store.retain(live)
        storeChanged()
    }

    // MARK: - Sending

    /// Stores records of this device, and sends them to all online members that keep activities.
    ///
    /// - Parameters:
    ///   - again: records that were stored before, and are sent again.
    ///   - completion: called once, when each member has answered or failed to.
    package func push(
        _ new: [KeptRecord], again: [KeptRecord] = [], completion: @escaping (Outcome) -> Void = { _ in }
    ) {
        guard isOn else { return completion(Outcome()) }
        var sent = again.map { SentKeptRecord($0, left: $0.lifetime) }
        for record in new {
            let each = SentKeptRecord(record, left: record.lifetime)
            switch merge(each) {
            case .stored: sent.append(each)
            case .known, .outdated: break
            case .refused(let refusal): log.info("Did not keep a record of this device", ["reason": "\(refusal)"])
            }
        }
        storeChanged()
        send(sent, to: targets(excluding: []), also: [], completion: completion)
    }

    /// The online members that keep activities, or whose capabilities are unknown.
    private func targets(excluding excluded: Set<DeviceID>) -> Set<DeviceID> {
        guard accountStore.snapshot.isCurrent else { return [] }
        let online = Set(network.table.all.map(\.deviceID))
        return online.intersection(accountStore.snapshot.others).subtracting(excluded)
            .filter { records[$0].keepsActivities != false }
    }

    private func send(
        _ sent: [SentKeptRecord], to targets: Set<DeviceID>, also others: Set<DeviceID>,
        completion: @escaping (Outcome) -> Void = { _ in }
    ) {
        guard !sent.isEmpty, !targets.isEmpty else { return completion(Outcome()) }
        let batches = Self.batches(sent)
        let receivers = JSON.array(targets.union(others).sorted().map { .string($0.hex) })
        var outcome = Outcome()
        var waiting = targets.count
        for device in targets {
            send(batches[...], receivers, to: device) { isConfirmed in
                if isConfirmed { outcome.confirmed.insert(device) } else { outcome.missed.insert(device) }
                waiting -= 1
                if waiting == 0 { completion(outcome) }
            }
        }
    }

    /// Sends messages one after the other.
    private func send(
        _ batches: ArraySlice<[JSON]>, _ receivers: JSON, to device: DeviceID, completion: @escaping (Bool) -> Void
    ) {
        guard let batch = batches.first else { return completion(true) }
        guard let link = pool.link(to: device) else { return completion(false) }
        link.whenEstablished { [self] isEstablished in
            guard isEstablished, isOn, records[device].keepsActivities == true else { return completion(false) }
            link.request(
                PeerMethod.keep, ["records": .array(batch), "receivers": receivers], timeout: Self.timeout
            ) { [self] outcome in
                guard case .answered(.result) = outcome else { return completion(false) }
                send(batches.dropFirst(), receivers, to: device, completion: completion)
            }
        }
    }

    /// Divides records among messages, each in the form of a message.
    private static func batches(_ sent: [SentKeptRecord]) -> [[JSON]] {
        var batches: [[JSON]] = [[]]
        var size = 0
        for each in sent {
            let encoded = each.record.encoded
            if size > 0, size + encoded.count > maxMessageBytes {
                batches.append([])
                size = 0
            }
            size += encoded.count
            batches[batches.count - 1].append(Self.element(each, encoded))
        }
        return batches
    }

    private static func element(_ sent: SentKeptRecord, _ encoded: [UInt8]) -> JSON {
        .object([
            sent.record.kind.rawValue: .string(Base64.encode(encoded)), "left": .integer(Int64(clamping: sent.left)),
        ])
    }

    // MARK: - Receiving

    /// Answers a request about kept activities; nil if it is another request, or none is kept here.
    func answer(_ request: PeerRequest, from device: DeviceID) -> PeerResponse.Outcome? {
        guard isOn else { return nil }
        switch request.method {
        case PeerMethod.keep: return keep(request.parameters, from: device)
        case PeerMethod.kept: return .result(["names": .array(store.allNames.map { .string($0.hex) })])
        case PeerMethod.fetchKept: return fetched(request.parameters)
        default: return nil
        }
    }

    private func keep(_ parameters: JSONObject, from device: DeviceID) -> PeerResponse.Outcome {
        let name = accountStore.snapshot.label(of: accountStore.deviceID)
        guard records[device].keeping.admit(at: loop.now) else {
            return .failure(.rejected(device: name, cause: "too many requests to keep activities"))
        }
        guard let sent = try? Self.records(parameters) else {
            return .failure(.rejected(device: name, cause: "the records are invalid"))
        }
        let receivers = Set(
            (parameters["receivers"]?.array ?? []).compactMap { $0.string.flatMap(DeviceID.init(hex:)) })
        let new = take(sent, from: device)
        if !new.isEmpty {
            let known = receivers.union([device, accountStore.deviceID])
            send(new, to: targets(excluding: known.union(new.map(\.record.signer))), also: known)
        }
        return .result([:])
    }

    private func fetched(_ parameters: JSONObject) -> PeerResponse.Outcome {
        let names = (parameters["names"]?.array ?? []).prefix(Self.maxNames)
        var elements: [JSON] = []
        var size = 0
        for name in names.compactMap({ $0.string.flatMap(KeptName.init(hex:)) }) {
            guard let sent = store.record(name, at: loop.now) else { continue }
            let encoded = sent.record.encoded
            guard elements.isEmpty || size + encoded.count <= Self.maxMessageBytes else { break }
            size += encoded.count
            elements.append(Self.element(sent, encoded))
        }
        return .result(["records": .array(elements)])
    }

    private static func records(_ object: JSONObject) throws(KeptMessageError) -> [SentKeptRecord] {
        guard let elements = object["records"]?.array, elements.count <= maxNames else { throw KeptMessageError() }
        var records: [SentKeptRecord] = []
        for element in elements { records.append(try SentKeptRecord(json: element)) }
        return records
    }

    /// Stores records of a member. Returns those that are new.
    private func take(_ sent: [SentKeptRecord], from device: DeviceID) -> [SentKeptRecord] {
        var new: [SentKeptRecord] = []
        for each in sent {
            switch merge(each) {
            case .stored: new.append(each)
            case .known, .outdated: break
            case .refused(let refusal):
                log.info(
                    "Did not keep a record",
                    ["from": device.short, "of": each.record.signer.short, "reason": "\(refusal)"])
            }
        }
        guard !new.isEmpty else { return [] }
        storeChanged()
        peers?.delegate?.keptChanged(new.map(\.record))
        return new
    }

    private func merge(_ sent: SentKeptRecord) -> KeptStore.Outcome {
        let snapshot = accountStore.snapshot
        return store.merge(
            sent.record, left: sent.left, at: loop.now, members: snapshot.live.count, key: snapshot.memberKey)
    }

    // MARK: - Comparing

    /// Compares the records with those of a member that has sent a hello.
    func compare(_ hello: Hello, over link: PeerLink) {
        records[link.device].keepsActivities = hello.keepsActivities
        searched.remove(link.device)
        guard isOn, hello.keepsActivities, let digest = hello.keptDigest, digest != store.digest else { return }
        pull(link)
    }

    /// Connects soon to a member that announces records, unless its hello arrives first.
    func search(_ device: DeviceID) {
        guard isOn else { return }
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

    private func pull(_ link: PeerLink) {
        guard pulls.insert(link.device).inserted else { return }
        link.request(PeerMethod.kept, [:], timeout: Self.timeout) { [self] outcome in
            guard isOn, case .answered(.result(let result)) = outcome else { return endPull(link) }
            let names = (result["names"]?.array ?? []).prefix(Self.maxNames)
                .compactMap { $0.string.flatMap(KeptName.init(hex:)) }
            fetch(names.filter { !store.contains($0) && !refused.contains($0) }, over: link)
        }
    }

    private func fetch(_ names: [KeptName], over link: PeerLink) {
        guard !names.isEmpty else { return endPull(link) }
        let parameters: JSONObject = ["names": .array(names.map { .string($0.hex) })]
        link.request(PeerMethod.fetchKept, parameters, timeout: Self.timeout) { [self] outcome in
            guard isOn, case .answered(.result(let result)) = outcome, let sent = try? Self.records(result),
                !sent.isEmpty
            else { return endPull(link) }
            _ = take(sent, from: link.device)
            let received = Set(sent.map { KeptName(of: $0.record.encoded) })
            // A member must not make this one fetch the same records in an endless loop.
            let rest = names.filter { !received.contains($0) }
            guard rest.count < names.count else { return endPull(link) }
            note(refused: received.filter { !store.contains($0) })
            fetch(rest, over: link)
        }
    }

    private func endPull(_ link: PeerLink) {
        pulls.remove(link.device)
    }

    private func note(refused names: Set<KeptName>) {
        if refused.count + names.count > Self.maxNames { refused = [] }
        refused.formUnion(names)
    }

    /// Announces whether there are records, and schedules the end of the first.
    private func storeChanged() {
        network.announce()
        guard let next = store.nextDeadline else {
            timer = nil
            return
        }
        timer = loop.timer(after: loop.now.duration(to: next), accuracy: .seconds(60)) { [unowned self] in
            store.expire(at: loop.now)
            storeChanged()
            peers?.delegate?.keptChanged([])
        }
    }
}
