import HandoffAccount
import HandoffCrypto
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol
import HandoffState
import HandoffTLS
import HandoffTransport
import LoopIO
import Timing

/// The connections to the other devices: one warm one to each that is talked to, made when it is needed, closed when
/// it has been idle, or when its device is no longer live. Lives on the daemon's loop.
final class LinkPool {
    /// Where a device may be found, under which label, and what opens its gate.
    struct Way {
        let label: Label
        let addresses: [SocketAddress]
        let gate: SecretBytes
        let hint: Gate.Hint
        /// Whether the device may not know this one, which then sends its statements first.
        let isIntroduction: Bool
        let calls: CallCounter

        /// What to call there: the device and no other, if the account admits it.
        func target(_ device: DeviceID, _ snapshot: AccountSnapshot) -> DialTarget {
            DialTarget(
                candidates: addresses,
                token: {
                    Gate.token(
                        key: gate, hint: hint, serial: calls.next(), label: label, Gate.Greeting($0, to: device))
                },
                accepts: { DeviceID($0) == device && snapshot.admits($0) })
        }
    }

    /// How long an idle connection that this side made is kept.
    static let idleTime = Duration.seconds(60)
    /// The same for one that was made to keep the rosters equal: changes often come in a row, and then none for days.
    private static let idleTimeForRoster = Duration.seconds(10)
    /// How long one is kept that the other side made: longer, so that it is not closed under a request.
    private static let idleTimeOfServers = Duration.seconds(120)
    /// Control connections that one device may have.
    private static let maxPerDevice = 4
    /// Connections of devices that have yet to show that they are live, in all: whoever holds an open ticket, or the
    /// account key, can make as many identities as he likes.
    private static let maxIntroductions = 16

    /// How long a call has to be without an answer until the names of its device are looked up again: two round trips of a bad
    /// link, and longer than nearly all calls take.
    private static let patience = Duration.milliseconds(300)

    /// Bytes of frames that are still on their way, over all connections: a member can make hundreds of identities, and
    /// each connection of each of them may begin a frame of 8 MiB. Rosters have a few KiB.
    private static let maxWaiting = 64 * 1024 * 1024

    let loop: EventLoop
    let log: Logger
    let records: PeerRecords
    private let dialer: Dialer
    /// Weak because `Peers` owns this part.
    weak var peers: Peers?
    private var sweeper: LoopTimer?
    /// Calls to devices that are known only when they answer.
    private var dials: [UInt64: Dial] = [:]
    private var calls: UInt64 = 0
    /// What still arrives while the daemon ends leads to no new connection: one would outlive all that it reports to.
    private var isStopped = false
    /// Nobody is called, and nobody let in: this device is silent in the network where it is. Setting it ends all connections.
    var isSilent = false {
        didSet { if isSilent { for link in all { link.close() } } }
    }
    /// The account as it is now.
    var snapshot: AccountSnapshot
    /// The rate of connections with reserved values.
    private let grease: Grease.Rate

    init(
        loop: EventLoop, log: Logger, dialer: Dialer, records: PeerRecords, snapshot: AccountSnapshot,
        grease: Grease.Rate
    ) {
        self.loop = loop
        self.log = log
        self.dialer = dialer
        self.records = records
        self.snapshot = snapshot
        self.grease = grease
    }

    /// All links, established or being made.
    var all: [PeerLink] { records.links }

    /// Whether both sides of some connection to the device have accepted each other.
    func isConnected(_ device: DeviceID) -> Bool {
        established(to: device) != nil
    }

    /// A connection on which both sides have accepted each other.
    func established(to device: DeviceID) -> PeerLink? {
        records[device].links.first(where: \.isEstablished)
    }

    /// A link to a device, on which requests may be put at once: a warm one, or one that is being made.
    ///
    /// - Parameter isForRoster: whether a new one is to be made only to keep the rosters equal, and to end after that.
    /// - Returns: nil when nobody knows where the device is, when it is no member, or when the pool has stopped.
    func link(to device: DeviceID, isForRoster: Bool = false) -> PeerLink? {
        guard !isStopped, !isSilent, snapshot.peerKey(device) != nil else { return nil }
        let present = records[device].links
        let warm = present.first { $0.isEstablished && $0.isUsable } ?? present.first { $0.isClient && $0.isUsable }
        if let warm { return warm }
        let ways = peers?.network.ways(to: device, isForRoster: isForRoster) ?? []
        guard !ways.isEmpty else {
            log.debug("There is no way to a device", ["device": device.short])
            return nil
        }
        guard let link = makeLink(device, role: .client, isForRoster: isForRoster) else { return nil }
        dial(link, by: ways[...])
        return link
    }

    /// Calls a device by one way after the other, until one is open.
    ///
    /// A label may be of a former start, and a gate that of another epoch; which one holds the call alone can tell. Where nobody
    /// answered at any address, another way to the same ones is left out.
    private func dial(_ link: PeerLink, by ways: ArraySlice<Way>) {
        guard let way = ways.first else { return }
        let device = link.device
        link.way = way
        link.patience = loop.timer(after: Self.patience) { [weak self] in self?.peers?.callIsSlow(to: device) }
        link.dial = dial(device, way) { [weak self, weak link] result in
            guard let self, let link else { return }
            switch result {
            case .failure(let error):
                log.debug("Call failed", ["device": device.short, "error": "\(error)"])
                let silent = error.failures.filter(\.hadNoAnswer).map(\.address)
                for address in silent { peers?.network.unanswered(device, at: address) }
                let others = ways.dropFirst().filter { !$0.addresses.allSatisfy(silent.contains) }
                if !others.isEmpty, link.isUsable { return dial(link, by: others[...]) }
                link.lost(error.description, isSilence: error.isSilence)
                // One that was made before and is cut by now would hide for minutes that the device has gone.
                for other in records[device].links { other.checkAlive() }
            case .success(let connection):
                guard snapshot.peerKey(device) != nil else {
                    connection.close("the device is no longer live")
                    return link.lost("the device is no longer a member")
                }
                link.attach(connection, statements: statements(for: device, way))
            }
        }
    }

    /// More may be known of where a device is: calls to it that have no answer yet try that, too.
    func addressesMayDiffer(of device: DeviceID) {
        for link in records[device].links {
            guard let dial = link.dial, let former = link.way else { continue }
            // Under another label it may have another gate; what is said first to who does not know this device stays the same.
            let way = peers?.network.ways(to: device, isForRoster: link.isForRoster)
                .first { $0.isIntroduction == former.isIntroduction }
            if let way { dial.add(way.target(device, snapshot)) }
        }
    }

    /// Calls a device again beside a connection on which it acknowledges nothing: it may be elsewhere by now, and a call finds out
    /// sooner than silence does. The new connection takes the place of the old one once it is there.
    func replaceIfUnacknowledged(_ link: PeerLink) {
        let device = link.device
        guard link.isUnacknowledged, !isStopped, !isSilent, snapshot.peerKey(device) != nil,
            !records[device].links.contains(where: { $0 !== link && $0.isUsable })
        else { return }
        peers?.callIsSlow(to: device)
        let ways = peers?.network.ways(to: device, isForRoster: link.isForRoster) ?? []
        guard !ways.isEmpty, let new = makeLink(device, role: .client, isForRoster: link.isForRoster) else { return }
        new.whenEstablished { [weak link] isEstablished in
            if isEstablished { link?.close(.late) }
        }
        dial(new, by: ways[...])
    }

    /// Calls a member at addresses where it may be: configured ones, or those of a record with a mark while this device is joining.
    ///
    /// - Parameter completion: gets the link, whose hello is still to come, or nil when nobody answered as that device; and whether
    ///   anybody answered at all. Not called once the pool has stopped.
    func call(
        _ device: DeviceID, _ way: Way, isFixed: Bool = false,
        completion: @escaping (PeerLink?, _ isAnswered: Bool) -> Void
    ) {
        guard !isStopped else { return }
        guard !isSilent else { return loop.later { completion(nil, false) } }
        calls += 1
        let id = calls
        dials[id] = dial(device, way) { [weak self] result in
            guard let self else { return }
            dials[id] = nil
            switch result {
            case .failure(let error):
                log.debug("Call failed", ["device": device.short, "error": "\(error)"])
                completion(nil, error.failures.contains { !$0.hadNoAnswer })
            case .success(let connection):
                guard snapshot.peerKey(device) != nil, let link = makeLink(device, role: .client, isFixed: isFixed)
                else {
                    connection.close("the device is no longer live")
                    return completion(nil, true)
                }
                link.attach(connection, statements: statements(for: device, way))
                completion(link, true)
            }
        }
    }

    /// Tells a device that it is no member any more, where it was a moment ago: so its user learns of it. Nothing else is said, and
    /// nothing is taken from it.
    func tellRemoved(_ device: DeviceID, _ way: Way) {
        guard !isStopped, !isSilent else { return }
        calls += 1
        let id = calls
        let target = DialTarget(
            candidates: way.addresses, token: way.target(device, snapshot).token, accepts: { DeviceID($0) == device })
        dials[id] = dialer.dial(target) { [weak self] result in
            guard let self else { return }
            dials[id] = nil
            guard case .success(let connection) = result else { return }
            connection.send([Frame(.statements, peers?.sync.removalStatements ?? [])])
            connection.close("it is removed")
        }
    }

    private func statements(for device: DeviceID, _ way: Way) -> [UInt8]? {
        way.isIntroduction ? peers?.sync.introductionStatements : peers?.sync.takeNews(for: device)
    }

    private func dial(
        _ device: DeviceID, _ way: Way, completion: @escaping (Result<PeerConnection, DialError>) -> Void
    ) -> Dial {
        dialer.dial(way.target(device, snapshot), completion: completion)
    }

    /// Takes a connection whose client has passed the gate and proved its key.
    func accept(_ connection: PeerConnection, from key: PublicKey) {
        let device = DeviceID(key)
        let isLive = snapshot.admits(key)
        // What is live may have changed since the handshake began.
        guard !isStopped, !isSilent, isLive || snapshot.mayIntroduce(key), makeRoom(for: device) else {
            return connection.close("the device is not live, or has enough connections")
        }
        let isWithinLimits =
            isLive
            ? records[device].limiter.admitConnection(at: loop.now)
            : all.count(where: \.isIntroducing) < Self.maxIntroductions
        guard isWithinLimits else { return connection.close("too many connections") }
        guard let link = makeLink(device, role: .server(isLive: isLive)) else {
            return connection.close("this device is no member of an account")
        }
        link.attach(connection, statements: nil)
    }

    /// Forgets a link that has ended.
    func ended(_ link: PeerLink) {
        records[link.device].links.removeAll { $0 === link }
    }

    /// Takes the account as it is now: connections of devices that are no longer live are closed at once.
    func accountChanged(_ snapshot: AccountSnapshot) {
        self.snapshot = snapshot
        for link in all {
            // A device that is being introduced is not live yet, and its session judges it, unless it was removed. All others
            // must be live, also before they have said hello.
            let mayStay = link.isIntroducing ? snapshot.mayIntroduce(link.device) : snapshot.peerKey(link.device) != nil
            if !mayStay {
                // So that its user learns of it, and that it stops by itself; from here on nobody listens to it.
                if link.isEstablished { link.sendStatements(peers?.sync.removalStatements ?? []) }
                link.close(.notLive)
            } else {
                link.accountChanged()
            }
        }
    }

    /// Our addresses have changed: connections of those that are gone end now, and not when they are needed.
    func networkChanged() {
        for link in all { link.checkAlive() }
    }

    /// Closes the connections that hold the most when all of them together hold too much.
    func relieve() {
        var waiting = all.reduce(0) { $0 + $1.waitingBytes }
        while waiting > Self.maxWaiting, let largest = all.max(by: { $0.waitingBytes < $1.waitingBytes }) {
            waiting -= largest.waitingBytes
            largest.close(.flooding)
        }
    }

    /// Closes everything, for ever.
    func stop() {
        isStopped = true
        dials.removeAll()
        closeAll()
        sweeper = nil
    }

    /// Closes all connections, since this device ends or its machine goes to sleep; others may be made.
    func closeAll() {
        // Where datagrams do not arrive, this says why.
        for link in all {
            link.sayHelloNow()
            link.close()
        }
    }

    /// Whether a device may have one more connection. The most being there, the one goes that nobody waits for and that was of use
    /// longest ago.
    private func makeRoom(for device: DeviceID) -> Bool {
        let present = records[device].links
        guard present.count >= Self.maxPerDevice else { return true }
        let idle = present.filter { $0.isEstablished && $0.isIdle }
        guard let least = idle.min(by: { $0.lastUse < $1.lastUse }) else { return false }
        least.close()
        return true
    }

    private func makeLink(
        _ device: DeviceID, role: SessionRole, isFixed: Bool = false, isForRoster: Bool = false
    ) -> PeerLink? {
        guard let peers, let hello = peers.network.hello(to: device) else { return nil }
        let link = PeerLink(
            device: device, role: role, isFixed: isFixed, isForRoster: isForRoster, hello: hello,
            grease: grease.draw(), loop: loop, log: log, records: records, peers: peers)
        records[device].links.append(link)
        armSweeper()
        return link
    }

    /// When a link that is idle is to be closed.
    private func end(of link: PeerLink) -> MonotonicInstant {
        let time = link.isClient ? (link.isForRoster ? Self.idleTimeForRoster : Self.idleTime) : Self.idleTimeOfServers
        return link.lastUse.advanced(by: time)
    }

    /// Closes links that have been idle for long enough, and looks again when the next one may have been.
    private func sweep() {
        for link in all where link.isIdle && end(of: link) <= loop.now { link.close() }
        sweeper = nil
        guard all.isEmpty else { return armSweeper() }
        // After a change of the roster there were some to each member: 20 KiB for each go back to the system, in a millisecond.
        FreeMemory.release()
    }

    private func armSweeper() {
        guard sweeper == nil else { return }
        let next = all.map { end(of: $0) }.min() ?? loop.now
        // One that is in use is looked at again after a while.
        let wait = max(.seconds(1), loop.now.duration(to: next))
        sweeper = loop.timer(after: wait, accuracy: .seconds(1)) { [unowned self] in sweep() }
    }
}
