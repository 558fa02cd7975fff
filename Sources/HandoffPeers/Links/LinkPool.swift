import HandoffAccount
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffProtocol
import HandoffState
import HandoffTransport
import LoopIO

/// The connections to the other devices. Each has one warm connection, made when needed and closed
/// when idle, or when its device is no longer live. Lives on the daemon's loop.
final class LinkPool {
    /// A route to a device: its label and addresses, and the key that opens its gate.
    struct Route {
        let label: Label
        let addresses: [SocketAddress]
        let gate: SecretBytes
        let hint: Gate.Hint
        /// True if the device may not know this one. Then this device first sends its statements.
        let isIntroduction: Bool
        let calls: CallCounter

        /// Returns the target of a call: only this device, if the account admits it.
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

    /// The time to keep an idle connection that this side made.
    static let maxLinkIdleTime = Duration.seconds(60)
    /// The time for one that was made to keep the rosters equal: changes often follow each other,
    /// and then there are none for days.
    private static let maxRosterLinkIdleTime = Duration.seconds(10)
    /// The time for one that the other side made: longer, so that it is not closed while a request
    /// is sent.
    private static let maxServerLinkIdleTime = Duration.seconds(120)
    /// The maximum number of control connections of one device.
    private static let maxLinksPerDevice = 4
    /// The maximum number of connections of devices that have not proved that they are live, in
    /// all: any number of identities can be created with an open ticket or the account key.
    private static let maxIntroductions = 16

    /// The time without an answer after which a called device's names are looked up again: two
    /// round trips on a bad link, and longer than nearly all calls take.
    private static let slowCallTimeout = Duration.milliseconds(300)
    /// The time to wait for an answer on a warm connection before checking that the other side is
    /// online. A good one answers much sooner.
    private static let answerTimeout = Duration.milliseconds(300)

    /// The maximum number of bytes of incomplete frames, over all connections. A member can create
    /// hundreds of identities, and each connection of each may begin a frame of 8 MiB. Rosters have
    /// a few KiB.
    private static let maxWaiting = 64 * 1024 * 1024

    let loop: EventLoop
    let log: Logger
    let records: PeerRecords
    private let dialer: Dialer
    /// Weak because `Peers` owns this part.
    weak var peers: Peers?
    private var sweeper: LoopTimer?
    /// Calls without a link until they are answered.
    private var dials: [UInt64: Dial] = [:]
    private var calls: UInt64 = 0
    /// Events during shutdown make no new connection: it would outlive all that it reports to.
    private var isStopped = false
    /// No connection is made or accepted: this device is silent in the present network. Setting it
    /// closes all.
    var isSilent = false {
        didSet { if isSilent { for link in all { link.close() } } }
    }
    /// The present account.
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

    /// All links, established or being established.
    var all: [PeerLink] { records.links }

    /// Returns true if both sides of a connection to the device have accepted each other.
    func isConnected(_ device: DeviceID) -> Bool {
        established(to: device) != nil
    }

    /// Returns a connection on which both sides have accepted each other.
    func established(to device: DeviceID) -> PeerLink? {
        records[device].links.first(where: \.isEstablished)
    }

    /// Returns a link that accepts requests immediately: a warm one, or one that is being
    /// established.
    ///
    /// - Parameter isForRoster: true to make a new one only to keep the rosters equal, and to end
    ///   it after that.
    /// - Returns: nil if no route to the device is known, if it is not a member, or if the pool has
    ///   stopped.
    func link(to device: DeviceID, isForRoster: Bool = false) -> PeerLink? {
        guard !isStopped, !isSilent, snapshot.peerKey(device) != nil else { return nil }
        let present = records[device].links
        let warm = present.first { $0.isEstablished && $0.isUsable } ?? present.first { $0.isClient && $0.isUsable }
        if let warm { return warm }
        let routes = peers?.network.routes(to: device, isForRoster: isForRoster) ?? []
        guard !routes.isEmpty else {
            log.debug("No route to a device is known", ["device": device.short])
            return nil
        }
        guard let link = makeLink(device, role: .client, isForRoster: isForRoster) else { return nil }
        dial(link, by: routes[...])
        return link
    }

    /// Calls a device over one route after the other, until one is open.
    ///
    /// A label may be of a former start, and a gate of another epoch. Only the call shows which one
    /// is valid. If no address of a route answered, other routes to the same addresses are skipped.
    private func dial(_ link: PeerLink, by routes: ArraySlice<Route>) {
        guard let route = routes.first else { return }
        let device = link.device
        link.route = route
        link.slowCallTimer = loop.timer(after: Self.slowCallTimeout) { [weak self] in
            self?.peers?.callIsSlow(to: device)
        }
        link.dial = dial(device, route) { [weak self, weak link] result in
            guard let self, let link else { return }
            switch result {
            case .failure(let error):
                log.debug("Call failed", ["device": device.short, "error": "\(error)"])
                let silent = error.failures.filter(\.hadNoReply).map(\.address)
                for address in silent { peers?.network.unanswered(device, at: address) }
                let others = routes.dropFirst().filter { !$0.addresses.allSatisfy(silent.contains) }
                if !others.isEmpty, link.isUsable { return dial(link, by: others[...]) }
                link.lost(error.description, isSilence: error.isSilence)
                // An older connection that is already cut would hide for minutes that the device is
                // offline.
                for other in records[device].links { other.checkAlive() }
            case .success(let connection):
                guard snapshot.peerKey(device) != nil else {
                    connection.close("the device is no longer live")
                    return link.lost("the device is no longer a member")
                }
                link.attach(connection, statements: statements(for: device, route))
            }
        }
    }

    /// Adds newly known addresses of a device to the calls to it that have no answer yet.
    func addressesMayDiffer(of device: DeviceID) {
        for link in records[device].links {
            guard let dial = link.dial, let former = link.route else { continue }
            // Under another label it may have another gate. The first message to a device that does
            // not know this one stays the same.
            let route = peers?.network.routes(to: device, isForRoster: link.isForRoster)
                .first { $0.isIntroduction == former.isIntroduction }
            if let route { dial.add(route.target(device, snapshot)) }
        }
    }

    /// Calls a device again that acknowledges nothing on a connection. It may be elsewhere by now,
    /// and a call finds that out sooner than a timeout. The new connection replaces the old one
    /// once established.
    func replaceIfUnacknowledged(_ link: PeerLink) {
        let device = link.device
        guard link.isUnacknowledged, !isStopped, !isSilent, snapshot.peerKey(device) != nil,
            !records[device].links.contains(where: { $0 !== link && $0.isUsable })
        else { return }
        peers?.callIsSlow(to: device)
        let routes = peers?.network.routes(to: device, isForRoster: link.isForRoster) ?? []
        guard !routes.isEmpty, let new = makeLink(device, role: .client, isForRoster: link.isForRoster) else { return }
        new.whenEstablished { [weak link] isEstablished in
            if isEstablished { link?.close(.late) }
        }
        dial(new, by: routes[...])
    }

    /// Returns a timer for a request over a warm connection, which may have ended unnoticed, as after
    /// sleep. Unless the answer arrives first, it checks the connection and calls the device again.
    func checkTimer(for link: PeerLink) -> LoopTimer {
        loop.timer(after: Self.answerTimeout) { [weak self] in
            self?.replaceIfUnacknowledged(link)
            link.checkAlive()
        }
    }

    /// Calls a member at addresses where it may be: configured ones, or those of a record with a
    /// mark while this device is joining.
    ///
    /// - Parameter completion: receives the link, whose hello is still to arrive, or nil if no host
    ///   answered as that device; and whether any host answered. Not called once the pool has
    ///   stopped.
    func call(
        _ device: DeviceID, _ route: Route, isFixed: Bool = false,
        completion: @escaping (PeerLink?, _ isAnswered: Bool) -> Void
    ) {
        guard !isStopped else { return }
        guard !isSilent else { return loop.later { completion(nil, false) } }
        calls += 1
        let id = calls
        dials[id] = dial(device, route) { [weak self] result in
            guard let self else { return }
            dials[id] = nil
            switch result {
            case .failure(let error):
                log.debug("Call failed", ["device": device.short, "error": "\(error)"])
                completion(nil, error.failures.contains { !$0.hadNoReply })
            case .success(let connection):
                guard snapshot.peerKey(device) != nil, let link = makeLink(device, role: .client, isFixed: isFixed)
                else {
                    connection.close("the device is no longer live")
                    return completion(nil, true)
                }
                link.attach(connection, statements: statements(for: device, route))
                completion(link, true)
            }
        }
    }

    /// Notifies a device at its last route that it is no longer a member, so that its user learns
    /// of it. Nothing else is sent, and nothing is accepted.
    func notifyRemoved(_ device: DeviceID, _ route: Route) {
        guard !isStopped, !isSilent else { return }
        calls += 1
        let id = calls
        let target = DialTarget(
            candidates: route.addresses, token: route.target(device, snapshot).token,
            accepts: { DeviceID($0) == device })
        dials[id] = dialer.dial(target) { [weak self] result in
            guard let self else { return }
            dials[id] = nil
            guard case .success(let connection) = result else { return }
            connection.send([Frame(.statements, peers?.sync.removalStatements ?? [])])
            connection.close("the device was removed")
        }
    }

    private func statements(for device: DeviceID, _ route: Route) -> [UInt8]? {
        route.isIntroduction ? peers?.sync.introductionStatements : peers?.sync.takeUnsent(for: device)
    }

    private func dial(
        _ device: DeviceID, _ route: Route, completion: @escaping (Result<PeerConnection, DialError>) -> Void
    ) -> Dial {
        dialer.dial(route.target(device, snapshot), completion: completion)
    }

    /// Accepts a connection whose client has passed the gate and proved its key.
    func accept(_ connection: PeerConnection, from key: PublicKey) {
        let device = DeviceID(key)
        let isLive = snapshot.admits(key)
        // The set of live devices may have changed since the handshake began.
        guard !isStopped, !isSilent, isLive || snapshot.mayIntroduce(key), makeRoom(for: device) else {
            return connection.close("the device is not live, or has too many connections")
        }
        let isWithinLimits =
            isLive
            ? records[device].limiter.admitConnection(at: loop.now)
            : all.count(where: \.isIntroducing) < Self.maxIntroductions
        guard isWithinLimits else { return connection.close("too many connections") }
        guard let link = makeLink(device, role: .server(isLive: isLive)) else {
            return connection.close("this device is not a member of an account")
        }
        link.attach(connection, statements: nil)
    }

    /// Forgets a link that has ended.
    func ended(_ link: PeerLink) {
        records[link.device].links.removeAll { $0 === link }
    }

    /// Applies a change of the account: immediately closes the connections of devices that are no
    /// longer live.
    func accountChanged(_ snapshot: AccountSnapshot) {
        self.snapshot = snapshot
        for link in all {
            // A device that is being introduced is not live yet. Its session judges it, unless it
            // was removed. All other devices must be live, even before they have sent a hello.
            let mayStay = link.isIntroducing ? snapshot.mayIntroduce(link.device) : snapshot.peerKey(link.device) != nil
            if !mayStay {
                // The statements notify its user and make the device stop by itself. Nothing from
                // it is accepted from here on.
                if link.isEstablished { link.sendStatements(peers?.sync.removalStatements ?? []) }
                link.close(.notLive)
            } else {
                link.accountChanged()
            }
        }
    }

    /// Finds dead connections now and not when they are needed: this device's addresses have
    /// changed.
    func networkChanged() {
        for link in all { link.checkAlive() }
    }

    /// Closes the connections with the most waiting bytes if all together have too many.
    func relieve() {
        var waiting = all.reduce(0) { $0 + $1.waitingBytes }
        while waiting > Self.maxWaiting, let largest = all.max(by: { $0.waitingBytes < $1.waitingBytes }) {
            waiting -= largest.waitingBytes
            largest.close(.flooding)
        }
    }

    /// Closes all connections permanently.
    func stop() {
        isStopped = true
        dials.removeAll()
        closeAll()
        sweeper = nil
    }

    /// Closes all connections: this device ends or its machine goes to sleep. New ones can be made.
    func closeAll() {
        // Announces the reason where datagrams do not arrive.
        for link in all {
            link.sendHelloNow()
            link.close()
        }
    }

    /// Returns true if a device may have one more connection. At the maximum, closes its least
    /// recently used idle one.
    private func makeRoom(for device: DeviceID) -> Bool {
        let present = records[device].links
        guard present.count >= Self.maxLinksPerDevice else { return true }
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

    /// Returns the time at which an idle link is closed.
    private func end(of link: PeerLink) -> MonotonicInstant {
        let time =
            link.isClient
            ? (link.isForRoster ? Self.maxRosterLinkIdleTime : Self.maxLinkIdleTime) : Self.maxServerLinkIdleTime
        return link.lastUse.advanced(by: time)
    }

    /// Closes links that have been idle for long enough, and schedules the next check.
    private func sweep() {
        for link in all where link.isIdle && end(of: link) <= loop.now { link.close() }
        sweeper = nil
        guard all.isEmpty else { return armSweeper() }
        // After a change of the roster, there were connections to all members: 20 KiB for each
        // return to the system, in a millisecond.
        FreeMemory.release()
    }

    private func armSweeper() {
        guard sweeper == nil else { return }
        let next = all.map { end(of: $0) }.min() ?? loop.now
        // A link in use is checked again after a while.
        let wait = max(.seconds(1), loop.now.duration(to: next))
        sweeper = loop.timer(after: wait, accuracy: .seconds(1)) { [unowned self] in sweep() }
    }
}
