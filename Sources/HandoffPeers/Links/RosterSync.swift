import HandoffAccount
import HandoffCrypto
import HandoffLog
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO
import Timing

/// What passes between this device and another one that may differ.
struct RosterExchange {
    /// What it was not sent yet of the changes that this device has made.
    var untold: [Statement] = []
    /// It has not said since the last change that it has all.
    var isOpen = false
    /// Tries since it last had all, or since its roster or ours has changed.
    var tries = 0
    /// What it said of its roster last.
    var digest: [UInt8] = []
    /// Runs until the next try.
    var timer: LoopTimer?
    /// When it was last sent a list.
    var sent: MonotonicInstant?
    /// Runs until the next list may be sent.
    var spacer: LoopTimer?
}

/// Keeps the members' rosters equal, and hands the account key to those who lack it. Lives on the daemon's loop.
///
/// One rule: who has changed the roster tells all others; and while the other side says that its roster or its epoch is another
/// one, it is sent ours, again after 4, 8, 16 … seconds.
final class RosterSync {
    /// How much longer the device with the greater id waits before it calls about a difference: mostly one call is made.
    private static let secondTurn = Duration.seconds(1)
    /// Over how long calls are spread for each device of the account, and at most: a device that is told of a change need
    /// not call the others whom the same device tells.
    private static let spread: (each: Duration, most: Duration) = (.milliseconds(30), .milliseconds(1500))
    /// The shortest time between two lists to one device, which takes 4 a second.
    private static let spacing = Duration.milliseconds(250)

    /// How often a device is sent all in vain: then one of the two is full, and something has to change first.
    private static let maxLists = 8

    /// Bytes of statements that are merged or wait for it, over all devices: they take several times as much memory, and
    /// milliseconds for each KiB.
    private static let maxMerging = 16 * 1024 * 1024

    private let loop: EventLoop
    private let log: Logger
    private let accountStore: AccountStore
    private let pool: LinkPool
    private let records: PeerRecords
    /// Bytes of statements that are merged now, or wait for it.
    private var mergingBytes = 0

    init(
        loop: EventLoop, log: Logger, accountStore: AccountStore, pool: LinkPool, records: PeerRecords
    ) {
        self.loop = loop
        self.log = log
        self.accountStore = accountStore
        self.pool = pool
        self.records = records
    }

    /// The statements that make this device a member to one that does not know it.
    var introductionStatements: [UInt8] {
        guard let roster = accountStore.state?.roster else { return [] }
        let limit = FrameCaps.introduction.maxBody(code: FrameKind.statements.rawValue) ?? 0
        return StatementList.encode(roster.introduction(of: accountStore.deviceID, limit: limit))
    }

    /// The statements that notify a removed device, and contain nothing else.
    var removalStatements: [UInt8] { StatementList.encode(accountStore.state?.roster.removals ?? []) }

    // MARK: - Telling

    /// Our roster or epoch has changed. What this device has done itself it tells all others at once, and whom it has let in; what
    /// it has learnt from a member, that one tells.
    func accountChanged(news: [Statement], hasNewEpoch: Bool) {
        defer {
            // Who is connected may wait for the key.
            if hasNewEpoch { for link in pool.all where link.isEstablished { offerEpochKey(link) } }
        }
        if !news.isEmpty { records.updateAll { $0.exchange.tries = 0 } }
        let guests = records.devices(where: \.isIntroducing).map { Fingerprint($0) }
        let isOurs = news.contains { statement in
            statement.signer == accountStore.device.publicKey || statement.admitted.map(guests.contains) ?? false
        }
        guard isOurs else { return }
        for device in pool.snapshot.others {
            records[device].exchange.untold += news
            records[device].exchange.isOpen = true
            records[device].exchange.tries = 0
            records[device].exchange.timer = nil
            tell(device)
        }
    }

    /// What a device is thought to lack; nil for nothing. It counts as sent.
    func takeNews(for device: DeviceID) -> [UInt8]? {
        let untold = records[device].exchange.untold
        guard !untold.isEmpty else { return nil }
        records[device].exchange.untold = []
        records[device].exchange.sent = loop.now
        return StatementList.encode(untold)
    }

    /// Sends a device what it was not sent yet, over the connection that there is or by a call.
    private func tell(_ device: DeviceID) {
        if let link = pool.established(to: device) {
            sendNews(over: link)
        } else {
            // What it was not sent goes in front of the hello.
            _ = pool.link(to: device, isForRoster: true)
        }
        schedule(device, after: Backoff.roster.delay(after: 1))
    }

    private func sendNews(over link: PeerLink) {
        let device = link.device
        guard records[device].exchange.spacer == nil else { return }
        if let sent = records[device].exchange.sent, sent.advanced(by: Self.spacing) > loop.now {
            let wait = loop.now.duration(to: sent.advanced(by: Self.spacing))
            records[device].exchange.spacer = loop.timer(after: wait) { [unowned self] in
                records[device].exchange.spacer = nil
                if let link = pool.established(to: device) { sendNews(over: link) }
            }
            return
        }
        if let news = takeNews(for: device) { link.sendStatements(news) }
        offerEpochKey(link)
    }

    // MARK: - Comparing

    /// A device says over a connection what its roster and its epoch are.
    ///
    /// - Parameter isFirst: whether it is the first that it says there.
    func heard(_ hello: Hello, over link: PeerLink, isFirst: Bool) {
        let device = link.device
        let snapshot = pool.snapshot
        let hasRoster = hello.rosterDigest == snapshot.rosterDigest
        if hasRoster, snapshot.isCurrent, hello.epoch == snapshot.epochName { return settle(device) }
        records[device].exchange.isOpen = true
        if records[device].exchange.digest != hello.rosterDigest {
            records[device].exchange.digest = hello.rosterDigest
            records[device].exchange.tries = 0
        }
        if !hasRoster, isFirst {
            sendAll(over: link)
        } else if snapshot.isCurrent, hello.epoch != snapshot.epochName {
            offerEpochKey(link)
        }
        schedule(device, after: Backoff.roster.delay(after: records[device].exchange.tries + 1))
    }

    /// A device is there, or has said another thing of itself: if its roster is another than ours, one of the two calls.
    func consider(_ peer: Peer) {
        guard differs(peer) else { return settle(peer.deviceID) }
        records[peer.deviceID].exchange.isOpen = true
        schedule(peer.deviceID, after: turn(peer.deviceID))
    }

    /// A member has shown itself by a mark: it or this device is in another epoch.
    func sighted(_ device: DeviceID) {
        records[device].exchange.isOpen = true
        // Most come with a change of the epoch that is on its way here, too.
        schedule(device, after: Self.secondTurn + turn(device))
    }

    private func differs(_ peer: Peer) -> Bool {
        pool.snapshot.held != nil && (peer.rosterDigest != pool.snapshot.rosterDigest || !pool.snapshot.isCurrent)
    }

    /// It has what we have.
    private func settle(_ device: DeviceID) {
        guard records[device].exchange.untold.isEmpty else { return }
        records[device].exchange.isOpen = false
        records[device].exchange.tries = 0
        records[device].exchange.timer = nil
    }

    // MARK: - Trying again

    /// When this device is to call about a difference that both may have seen.
    private func turn(_ device: DeviceID) -> Duration {
        let spread = min(Self.spread.each * max(pool.snapshot.live.count - 3, 0), Self.spread.most)
        return (accountStore.deviceID < device ? .zero : Self.secondTurn) + spread * Double.random(in: 0..<1)
    }

    private func schedule(_ device: DeviceID, after wait: Duration) {
        guard records[device].exchange.timer == nil else { return }
        let tries = records[device].exchange.tries
        let wait = tries > 0 ? max(wait, Backoff.roster.delay(after: tries)) : wait
        records[device].exchange.timer = loop.timer(after: wait, accuracy: .milliseconds(50)) { [unowned self] in
            records[device].exchange.timer = nil
            retry(device)
        }
    }

    /// Sends all that there is to a device that still differs, as far as is known; nothing happens while nobody knows where it is.
    private func retry(_ device: DeviceID) {
        guard records[device].exchange.isOpen, pool.snapshot.held != nil else { return }
        // It has not answered what it was told some seconds ago: the connection may have ended unnoticed.
        pool.established(to: device)?.endIfUnacknowledged()
        if let open = pool.established(to: device) {
            guard records[device].exchange.tries < Self.maxLists else { return }
            records[device].exchange.tries += 1
            if open.peerHello?.rosterDigest != pool.snapshot.rosterDigest {
                sendAll(over: open)
            } else {
                offerEpochKey(open)
            }
            return schedule(device, after: .zero)
        }
        guard let link = pool.link(to: device, isForRoster: true) else { return }
        records[device].exchange.tries += 1
        link.whenEstablished { [self] isEstablished in
            if !isEstablished, records[device].exchange.isOpen { schedule(device, after: .zero) }
        }
    }

    // MARK: - Statements and keys

    private func sendAll(over link: PeerLink) {
        guard let state = accountStore.state else { return }
        records[link.device].exchange.untold = []
        records[link.device].exchange.sent = loop.now
        link.sendStatements(state.roster.encoded())
        offerEpochKey(link)
    }

    /// Sends the account key in force, if the device is live in the stored roster and does not say that it has it.
    private func offerEpochKey(_ link: PeerLink) {
        guard link.peerHello?.epoch != pool.snapshot.epochName,
            let held = accountStore.state?.keyToHandOver(to: link.device)
        else {
            return
        }
        link.sendEpochKey(EpochKeyBody.encode(held))
    }

    /// Merges statements from a link, and says whether its device is live now.
    func merge(_ link: PeerLink, _ body: [UInt8], completion: @escaping (MergeOutcome) -> Void) {
        let statements: [Statement]
        do {
            guard mergingBytes + body.count <= Self.maxMerging else { throw SessionEnd.flooding }
            statements = try StatementList.decode(body)
        } catch {
            log.info("Statements could not be read", ["device": link.device.short, "error": "\(error)"])
            return completion(.refused)
        }
        let count = body.count
        let device = link.device
        mergingBytes += count
        let done = { [self] (outcome: MergeOutcome) in
            mergingBytes -= count
            completion(outcome)
        }
        if pool.snapshot.peerKey(device) != nil {
            accountStore.merge(statements) { [pool] isGenuine in
                done(isGenuine ? (pool.snapshot.peerKey(device) != nil ? .live : .notLive) : .refused)
            }
        } else {
            guard let key = link.presentedKey else { return done(.notLive) }
            records[device].isIntroducing = true
            accountStore.introduce(key, statements) { [self] isMember in
                records[device].isIntroducing = false
                log.info(isMember ? "A new device was introduced" : "A stranger was refused", ["device": device.short])
                done(isMember ? .live : .notLive)
            }
        }
    }

    /// Takes the key of an epoch, if it is the one that the roster commits to.
    func takeEpochKey(_ link: PeerLink, _ body: [UInt8]) {
        guard let key = EpochKeyBody.decode(body) else { return link.close(.message(.field("epochKey"))) }
        accountStore.accept(key) { _ in }
    }
}
