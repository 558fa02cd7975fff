import HandoffAccount
import HandoffCrypto
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// Keeps the members' rosters equal, and hands the account key to those who lack it. Lives on the daemon's loop.
final class RosterSync {
    /// How much longer the device with the greater id waits before it calls about a difference: mostly one call is made.
    private static let secondTurn = Duration.seconds(1)
    /// How long a connected device may take to merge what it was sent, and to announce it, before it is sent everything.
    private static let settling = Duration.seconds(2)
    /// Over how long calls are spread for each device of the account, and at most: a device that is told of a change need
    /// not call the others whom the same device tells.
    private static let spread: (each: Duration, most: Duration) = (.milliseconds(30), .milliseconds(1500))
    /// How soon a call about the same device or label is made again, at first and at most.
    private static let backoff: (first: Duration, most: Duration) = (.seconds(2), .seconds(60))

    /// Bytes of statements that are merged or wait for it, over all devices: they take several times as much memory, and
    /// milliseconds for each KiB.
    private static let maximumMerging = 16 * 1024 * 1024

    private struct Attempt {
        var timer: LoopTimer?
        var failures = 0
        var last: LoopInstant?
    }

    private let loop: EventLoop
    private let log: Logger
    private let keeper: AccountKeeper
    private let pool: LinkPool
    private let network: () -> PeerNetwork
    private var attempts: [DeviceID: Attempt] = [:]
    /// This device has just joined: nobody knows it, so it calls whom it finds, whatever the order of the ids.
    private var isNewcomer = false
    /// When this device last signed a statement.
    private var madeNews: LoopInstant?
    /// Bytes of statements that are merged now, or wait for it.
    private var mergingBytes = 0

    init(loop: EventLoop, log: Logger, keeper: AccountKeeper, pool: LinkPool, network: @escaping () -> PeerNetwork) {
        self.loop = loop
        self.log = log
        self.keeper = keeper
        self.pool = pool
        self.network = network
    }

    /// This device has news of its own, or nobody knows it yet: it calls all others at once, whatever the order of the ids.
    private var isTeller: Bool {
        isNewcomer || madeNews.map { $0.duration(to: loop.now) < Self.secondTurn } ?? false
    }

    /// What is new in our roster, before anyone is told.
    func learned(_ news: [Statement]) {
        if news.contains(where: { $0.signer == keeper.device.publicKey }) { madeNews = loop.now }
    }

    /// This device has joined an account, and nobody knows yet.
    func joined() {
        isNewcomer = true
    }

    /// A session is open: this device is known to somebody.
    func established(_ link: PeerLink) {
        isNewcomer = false
        attempts[link.device]?.timer = nil
        attempts[link.device]?.failures = 0
    }

    /// Merges statements from a link, and says whether its device is live now.
    func merge(_ link: PeerLink, _ body: [UInt8], completion: @escaping (Bool) -> Void) {
        let statements: [Statement]
        do {
            guard mergingBytes + body.count <= Self.maximumMerging else { throw SessionEnd.flooding }
            statements = try StatementList.decode(body)
        } catch {
            log.info("Statements could not be read", ["device": link.device.short, "error": "\(error)"])
            return completion(false)
        }
        let count = body.count
        let device = link.device
        mergingBytes += count
        let done = { [self] (isMember: Bool) in
            mergingBytes -= count
            completion(isMember)
        }
        if pool.ring.peerKey(device) != nil {
            keeper.merge(statements) { [pool] isGenuine in done(isGenuine && pool.ring.peerKey(device) != nil) }
        } else {
            guard let key = link.presentedKey else { return done(false) }
            keeper.introduce(key, statements) { [log] isMember in
                log.info(isMember ? "A new device was introduced" : "A stranger was refused", ["device": device.short])
                done(isMember)
            }
        }
    }

    /// Sends our statements over a link.
    func offerStatements(_ link: PeerLink) {
        guard let state = keeper.state else { return }
        link.sendStatements(state.roster.encoded())
    }

    /// Sends the key of the epoch that holds, if the device is live in the stored roster.
    func offerEpochKey(_ link: PeerLink) {
        guard let held = keeper.state?.keyToHandOver(to: link.device) else { return }
        link.sendEpochKey(EpochKeyBody.encode(held))
        // With the epoch our label has changed: the other side should not have to wait for a datagram to learn it.
        if let advert = network().announcer.advert { _ = link.sendAdvert(advert.frameBody) }
    }

    /// Takes the key of an epoch, if it is the one that the roster commits to.
    func takeEpochKey(_ link: PeerLink, _ body: [UInt8]) {
        guard let key = EpochKeyBody.decode(body) else { return link.close(.message(.field("epochKey"))) }
        keeper.accept(key) { _ in }
    }

    /// Our roster or epoch has changed: everyone who is connected hears what is new, and everyone else who is there is
    /// called. The whole roster to all would be a flood among many devices, each of which tells all others.
    func accountChanged(news: [Statement], hasNewEpoch: Bool) {
        attempts = attempts.filter { pool.ring.live.contains($0.key) }
        let statements = news.isEmpty ? nil : StatementList.encode(news)
        for link in pool.all where link.isEstablished && (statements != nil || hasNewEpoch) {
            if let statements { link.sendStatements(statements) }
            // Also when only the roster is new: the other side may hold the key of an epoch that has just lost.
            offerEpochKey(link)
        }
        for peer in network().table.all { consider(peer) }
    }

    /// A device whose roster or epoch may be another than ours: one of the two calls the other.
    func consider(_ peer: Peer) {
        let id = peer.deviceID
        guard differs(peer) else {
            attempts[id]?.failures = 0
            return
        }
        let isConnected = pool.isConnected(id)
        guard isConnected || !peer.candidates.ranked.isEmpty, attempts[id]?.timer == nil else { return }
        var attempt = attempts[id] ?? Attempt()
        var wait = Duration.zero
        if !isTeller {
            wait = keeper.deviceID < id ? .zero : Self.secondTurn
            // All hear of a change at the same moment, and most differences are gone before it is their turn.
            let spread = min(Self.spread.each * max(pool.ring.live.count - 3, 0), Self.spread.most)
            wait += spread * Double.random(in: 0..<1)
        }
        if attempt.failures > 0 { wait = Self.pause(after: attempt.failures) }
        // It has been sent what is new, and says so in a moment.
        if isConnected { wait = max(wait, Self.settling) }
        // A member whose roster always differs, and which ends each connection at once, is not called without end.
        if let last = attempt.last {
            wait = max(wait, loop.now.duration(to: last.advanced(by: Self.backoff.first)))
        }
        do {
            attempt.timer = try loop.timer(after: wait) { [unowned self] in call(id) }
        } catch {
            log.error("Cannot set the timer of a call", ["error": "\(error)"])
        }
        attempts[id] = attempt
    }

    /// How long to wait after so many calls about one device or label that did not help.
    static func pause(after calls: Int) -> Duration {
        min(backoff.first * (1 << min(calls, 5)), backoff.most)
    }

    private func differs(_ peer: Peer) -> Bool {
        let ring = pool.ring
        guard ring.held != nil else { return false }
        return peer.rosterDigest != ring.rosterDigest || peer.epoch != ring.held?.n || !ring.isCurrent
    }

    private func call(_ id: DeviceID) {
        attempts[id]?.timer = nil
        guard let peer = network().table[id], differs(peer) else { return }
        attempts[id, default: Attempt()].failures += 1
        attempts[id]?.last = loop.now
        if let open = pool.established(to: id) {
            offerAll(open)
            return reconsider(id)
        }
        if let link = pool.link(to: id) {
            link.whenEstablished { [self] isEstablished in
                if !isEstablished { reconsider(id) }
            }
        } else {
            reach(id) { [self] isReached in
                if !isReached { reconsider(id) }
            }
        }
    }

    /// Calls a device that still is in a former epoch, as far as we know; tells whether it answered.
    func reach(_ id: DeviceID, completion: @escaping (Bool) -> Void) {
        // Over what there is, it hears of our epoch.
        if pool.isConnected(id) { return completion(true) }
        call(former: id) { completion($0 != nil) }
    }

    /// A connection to a member by which statements can be sent, whatever epoch it is in; nil when it cannot be found.
    func find(_ id: DeviceID, completion: @escaping (PeerLink?) -> Void) {
        if let open = pool.established(to: id) { return completion(open) }
        if let link = pool.link(to: id) { return completion(link) }
        call(former: id, completion: completion)
    }

    private func call(former id: DeviceID, completion: @escaping (PeerLink?) -> Void) {
        guard let peer = network().table[id], let label = peer.label, let gate = pool.ring.gate(for: label),
            !gate.isHeld
        else { return completion(nil) }
        let addresses = peer.candidates.ranked.compactMap { SocketAddress($0.address) }
        pool.call(
            label: label, gate: gate, scope: .rosterOnly, addresses: addresses, isFixed: false, completion: completion)
    }

    /// Sends all that there is to know of the account to a member.
    func offerAll(_ link: PeerLink) {
        offerStatements(link)
        offerEpochKey(link)
    }

    private func reconsider(_ id: DeviceID) {
        if let peer = network().table[id] { consider(peer) }
    }
}
