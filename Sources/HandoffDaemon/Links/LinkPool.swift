import HandoffAccount
import HandoffCrypto
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol
import HandoffTLS
import LoopIO

/// The connections to the other devices: one warm one to each that is talked to, made when it is needed, closed when
/// it has been idle, or when its device is no longer live. Lives on the daemon's loop.
final class LinkPool {
    /// What the pool needs of the rest of the daemon.
    struct Surroundings {
        /// What this side says in hello to a device.
        let hello: (DeviceID) -> Hello?
        /// Where a device may be found, best first, and under which label; nil for one that is not there.
        let whereabouts: (DeviceID) -> Whereabouts?
        /// Nobody answered at an address of a device: it has to prove itself again.
        let unanswered: (DeviceID, SocketAddress) -> Void
        /// The roster as it is stored, for the first frame.
        let statements: () -> [UInt8]
        /// What tells a device that it is no member any more, and nothing else.
        let removals: () -> [UInt8]
        /// The events of links.
        let events: () -> PeerLink.Events
    }

    /// Where a device may be found.
    struct Whereabouts {
        let label: Label
        let addresses: [SocketAddress]
        /// First 8 bytes of the digest of its roster.
        let rosterDigest: [UInt8]
    }

    /// How long an idle connection that this side made is kept.
    static let idleTime = Duration.seconds(60)
    /// How long one is kept that the other side made: longer, so that it is not closed under a request.
    private static let idleTimeOfServers = Duration.seconds(120)
    /// Control connections that one device may have.
    private static let maximumPerDevice = 4
    /// Connections of devices that have yet to show that they are live, in all: whoever holds the gate key can make as
    /// many identities as he likes.
    private static let maximumIntroductions = 16

    /// Bytes of frames that are still on their way, over all connections: a member can make hundreds of identities, and
    /// each connection of each of them may begin a frame of 8 MiB. Rosters have a few KiB.
    private static let maximumWaiting = 64 * 1024 * 1024

    let loop: EventLoop
    let log: Logger
    let budgets: MemberBudgets
    private let dialer: Dialer
    private let surroundings: Surroundings
    private var links: [DeviceID: [PeerLink]] = [:]
    private var sweeper: LoopTimer?
    /// Calls to devices that are known only when they answer.
    private var dials: [UInt64: Dial] = [:]
    private var calls: UInt64 = 0
    /// What still arrives while the daemon ends leads to no new connection: one would outlive all that it reports to.
    private var isStopped = false
    /// The account as it is now.
    var ring: KeyRing

    init(
        loop: EventLoop, log: Logger, dialer: Dialer, budgets: MemberBudgets, ring: KeyRing,
        surroundings: Surroundings
    ) {
        self.loop = loop
        self.log = log
        self.dialer = dialer
        self.budgets = budgets
        self.ring = ring
        self.surroundings = surroundings
    }

    /// All links, established or being made.
    var all: [PeerLink] { links.values.flatMap { $0 } }

    /// Whether both sides of some connection to the device have accepted each other.
    func isConnected(_ device: DeviceID) -> Bool {
        established(to: device) != nil
    }

    /// A connection on which both sides have accepted each other.
    func established(to device: DeviceID) -> PeerLink? {
        links[device]?.first(where: \.isEstablished)
    }

    /// A link to a device, on which requests may be put at once: a warm one, or one that is being made.
    ///
    /// - Returns: nil when nobody knows where the device is, when it is no member, or when the pool has stopped.
    func link(to device: DeviceID) -> PeerLink? {
        guard !isStopped, ring.peerKey(device) != nil else { return nil }
        // The other side may serve nothing on a connection of a former epoch.
        let usable = links[device, default: []].filter { $0.isUsable && $0.epochMark == ring.epochMark }
        if let warm = usable.first(where: \.isEstablished) ?? usable.first(where: \.isClient) { return warm }
        func noWay(_ reason: String) -> PeerLink? {
            log.debug("There is no way to a device", ["device": device.short, "reason": reason])
            return nil
        }
        guard let place = surroundings.whereabouts(device) else { return noWay("nothing was heard of it") }
        guard !place.addresses.isEmpty else { return noWay("no address is known") }
        guard let gate = ring.gate(for: place.label) else { return noWay("its label is of an unknown epoch") }
        guard gate.isHeld else { return noWay("its label is of another epoch") }
        let statements = place.rosterDigest == ring.rosterDigest ? nil : surroundings.statements()
        return dial(
            device, label: place.label, gate: gate, addresses: place.addresses, statements: statements)
    }

    /// Calls a device that is known only by a label of another epoch, or by a configured address: whoever answers must be
    /// live. Ends by itself when nothing comes of it; once the pool has stopped, nobody is called, nor told.
    ///
    /// - Parameter device: the only one that may answer; nil for any live one.
    func call(
        label: Label, gate: (isHeld: Bool, key: SecretBytes), scope: SessionScope, addresses: [SocketAddress],
        isFixed: Bool, only device: DeviceID? = nil, completion: @escaping (PeerLink?) -> Void
    ) {
        guard !isStopped else { return }
        let ring = self.ring
        calls += 1
        let id = calls
        dials[id] = dialer.dial(
            DialTarget(
                candidates: addresses, token: { Gate.token(gateKey: gate.key, label: label, clientHello: $0) },
                accepts: { ring.admits($0) && (device == nil || device == DeviceID($0)) })
        ) { [weak self] result in
            guard let self else { return }
            dials[id] = nil
            switch result {
            case .failure(let error):
                log.debug("Call failed", ["error": "\(error)"])
                completion(nil)
            case .success(let connection):
                guard let key = connection.peerKey, self.ring.admits(key),
                    let link = makeLink(
                        DeviceID(key), role: .client, scope: scope,
                        epochMark: gate.isHeld ? ring.epochMark : nil, isFixed: isFixed)
                else {
                    connection.close("the device is no longer live")
                    return completion(nil)
                }
                link.attach(connection, statements: surroundings.statements())
                completion(link)
            }
        }
    }

    /// Takes a connection whose client has passed the gate and proved its key.
    func accept(_ connection: PeerConnection, from key: PublicKey) {
        let device = DeviceID(key)
        let isLive = ring.admits(key)
        // What is live may have changed since the handshake began.
        guard !isStopped, isLive || ring.mayIntroduce(key), makeRoom(for: device) else {
            return connection.close("the device is not live, or has enough connections")
        }
        let isCurrent = ring.isCurrent && connection.epoch == ring.epochMark
        let isWithinLimits =
            isLive
            ? budgets[device].admitConnection(at: BootInstant(loop.now))
            : all.count(where: \.isIntroducing) < Self.maximumIntroductions
        guard isWithinLimits else { return connection.close("too many connections") }
        guard isLive || isCurrent,
            let link = makeLink(
                device, role: .server(isLive: isLive), scope: isCurrent ? .full : .rosterOnly,
                epochMark: connection.epoch, isFixed: false)
        else { return connection.close("only members may use a former epoch") }
        link.attach(connection, statements: nil)
    }

    /// Forgets a link that has ended.
    func ended(_ link: PeerLink) {
        links[link.device]?.removeAll { $0 === link }
        if links[link.device]?.isEmpty ?? false { links[link.device] = nil }
    }

    /// Takes the account as it is now: connections of devices that are no longer live are closed at once.
    func accountChanged(_ ring: KeyRing) {
        self.ring = ring
        for link in all {
            // A device that is being introduced is not live yet, and its session judges it, unless it was removed. All others
            // must be live, also before they have said hello.
            let mayStay = link.isIntroducing ? ring.mayIntroduce(link.device) : ring.peerKey(link.device) != nil
            if !mayStay {
                // So that its user learns of it, and that it stops by itself; from here on nobody listens to it.
                if link.isEstablished { link.sendStatements(surroundings.removals()) }
                link.close(.notLive)
            } else {
                link.accountChanged()
                if link.epochMark != ring.epochMark { link.abandonRequests() }
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
        while waiting > Self.maximumWaiting, let largest = all.max(by: { $0.waitingBytes < $1.waitingBytes }) {
            waiting -= largest.waitingBytes
            largest.close(.flooding)
        }
    }

    /// Closes everything, for ever.
    func stop() {
        isStopped = true
        dials.removeAll()
        for link in all { link.close() }
        sweeper = nil
    }

    /// Whether a device may have one more connection. The most being there, one that nobody waits for is closed: rather
    /// one of another epoch, on which nothing is served, then the one that was of use longest ago. A device whose epoch
    /// changes calls anew each time, and could not reach us before the former ones have been idle for minutes.
    private func makeRoom(for device: DeviceID) -> Bool {
        let present = links[device, default: []]
        guard present.count >= Self.maximumPerDevice else { return true }
        func isServed(_ link: PeerLink) -> Int { link.epochMark == ring.epochMark ? 1 : 0 }
        let idle = present.filter { $0.isEstablished && $0.isIdle }
        guard let least = idle.min(by: { (isServed($0), $0.lastUse) < (isServed($1), $1.lastUse) }) else {
            return false
        }
        least.close()
        return true
    }

    private func dial(
        _ device: DeviceID, label: Label, gate: (isHeld: Bool, key: SecretBytes), addresses: [SocketAddress],
        statements: [UInt8]?
    ) -> PeerLink? {
        guard let link = makeLink(device, role: .client, scope: .full, epochMark: ring.epochMark, isFixed: false) else {
            return nil
        }
        let ring = self.ring
        link.dial = dialer.dial(
            DialTarget(
                candidates: addresses, token: { Gate.token(gateKey: gate.key, label: label, clientHello: $0) },
                accepts: { DeviceID($0) == device && ring.admits($0) })
        ) { [weak self, weak link] result in
            guard let self, let link else { return }
            switch result {
            case .failure(let error):
                for failure in error.failures where failure.hadNoAnswer {
                    surroundings.unanswered(device, failure.address)
                }
                link.lost(error.description)
                // One that was made before and is cut by now would hide for minutes that the device has gone.
                for other in links[device, default: []] { other.checkAlive() }
            case .success(let connection):
                guard self.ring.peerKey(device) != nil else {
                    connection.close("the device is no longer live")
                    return link.lost("the device is no longer a member")
                }
                link.attach(connection, statements: statements)
            }
        }
        return link
    }

    private func makeLink(
        _ device: DeviceID, role: SessionRole, scope: SessionScope, epochMark: UInt64?, isFixed: Bool
    ) -> PeerLink? {
        guard let hello = surroundings.hello(device) else { return nil }
        let link = PeerLink(
            device: device, role: role, scope: scope, epochMark: epochMark, isFixed: isFixed, hello: hello,
            latestHello: { [weak self] in self?.surroundings.hello(device) }, loop: loop, log: log, budgets: budgets,
            events: surroundings.events())
        links[device, default: []].append(link)
        armSweeper()
        return link
    }

    /// Closes links that have been idle for long enough, and looks again while there are any.
    private func sweep() {
        for link in all where link.isIdle {
            let limit = link.isClient ? Self.idleTime : Self.idleTimeOfServers
            if link.lastUse.duration(to: loop.now) >= limit { link.close() }
        }
        sweeper = nil
        if !links.isEmpty { armSweeper() }
    }

    private func armSweeper() {
        guard sweeper == nil else { return }
        do {
            sweeper = try loop.timer(after: .seconds(20), accuracy: .seconds(5)) { [unowned self] in sweep() }
        } catch {
            log.error("Cannot set the timer of idle connections", ["error": "\(error)"])
        }
    }
}
