import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// The exchange between this device and one whose roster may differ.
struct RosterExchange {
    /// This device's changes that were not sent to it yet.
    var pending: [Statement] = []
    /// True until it announces after a change that it has everything.
    var isOpen = false
    /// Attempts since it last had everything, or since either roster changed.
    var tries = 0
    /// Its last announced roster digest.
    var digest: [UInt8] = []
    /// Runs until the next attempt.
    var timer: LoopTimer?
    /// The time at which it was last sent a list.
    var sent: MonotonicInstant?
    /// Runs until the next list may be sent.
    var spacer: LoopTimer?
}

/// Keeps the members' rosters equal, and sends the account key to members that lack it. Lives on
/// the daemon's loop.
///
/// A device that has changed the roster notifies all others. While the other side announces another
/// roster or epoch, it is sent the local one, again after 4, 8, 16 … seconds.
final class RosterSync {
    /// The additional delay of the device with the greater id before it calls about a difference.
    /// Usually only one call is made.
    private static let secondTurn = Duration.seconds(1)
    /// The time over which calls are spread, per device of the account and at most. A device that
    /// learns of a change need not call those that the same device notifies.
    private static let spread: (each: Duration, max: Duration) = (.milliseconds(30), .milliseconds(1500))
    /// The minimum time between two lists to one device, which accepts 4 per second.
    private static let spacing = Duration.milliseconds(250)

    /// The maximum number of unsuccessful attempts to send everything. By then one of the two is
    /// full, and needs a change first.
    private static let maxLists = 8

    /// The maximum number of bytes of statements being merged or waiting, over all devices. They
    /// need several times as much memory, and milliseconds for each KiB.
    private static let maxMerging = 16 * 1024 * 1024

    private let loop: EventLoop
    private let log: Logger
    private let accountStore: AccountStore
    private let pool: LinkPool
    private let records: PeerRecords
    /// The bytes of statements being merged or waiting.
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

    /// The statements that make this device a member for one that does not know it.
    var introductionStatements: [UInt8] {
        guard let roster = accountStore.state?.roster else { return [] }
        let limit = FrameCaps.introduction.maxBody(code: FrameKind.statements.rawValue) ?? 0
        return StatementList.encode(roster.introduction(of: accountStore.deviceID, limit: limit))
    }

    /// The statements that notify a removed device. They contain nothing else.
    var removalStatements: [UInt8] { StatementList.encode(accountStore.state?.roster.removals ?? []) }

    // MARK: - Sending

    /// Applies a change of the local roster or epoch. Changes by this device, and those that admit
    /// a device introduced to it, are sent to all others immediately. Those received from a member
    /// are sent by that member.
    func accountChanged(added: [Statement], hasNewEpoch: Bool) {
        defer {
            // Connected devices may wait for the key.
            if hasNewEpoch { for link in pool.all where link.isEstablished { offerEpochKey(link) } }
        }
        if !added.isEmpty { records.updateAll { $0.exchange.tries = 0 } }
        let guests = records.devices(where: \.isIntroducing).map { Fingerprint($0) }
        let isOurs = added.contains { statement in
            statement.signer == accountStore.device.publicKey || statement.admitted.map(guests.contains) ?? false
        }
        guard isOurs else { return }
        for device in pool.snapshot.others {
            records[device].exchange.pending += added
            records[device].exchange.isOpen = true
            records[device].exchange.tries = 0
            records[device].exchange.timer = nil
            notify(device)
        }
    }

    /// Returns the statements that a device probably lacks, and counts them as sent; nil if none.
    func takeUnsent(for device: DeviceID) -> [UInt8]? {
        let pending = records[device].exchange.pending
        guard !pending.isEmpty else { return nil }
        records[device].exchange.pending = []
        records[device].exchange.sent = loop.now
        return StatementList.encode(pending)
    }

    /// Sends a device its unsent statements, over the existing connection or a new one.
    private func notify(_ device: DeviceID) {
        if let link = pool.established(to: device) {
            sendUnsent(over: link)
        } else {
            // Those statements precede the hello.
            _ = pool.link(to: device, isForRoster: true)
        }
        schedule(device, after: Backoff.roster.delay(after: 1))
    }

    private func sendUnsent(over link: PeerLink) {
        let device = link.device
        guard records[device].exchange.spacer == nil else { return }
        if let sent = records[device].exchange.sent, sent.advanced(by: Self.spacing) > loop.now {
            let wait = loop.now.duration(to: sent.advanced(by: Self.spacing))
            records[device].exchange.spacer = loop.timer(after: wait) { [unowned self] in
                records[device].exchange.spacer = nil
                if let link = pool.established(to: device) { sendUnsent(over: link) }
            }
            return
        }
        if let unsent = takeUnsent(for: device) { link.sendStatements(unsent) }
        offerEpochKey(link)
    }

    // MARK: - Comparing

    /// Compares the roster and the epoch in a device's hello with the local ones.
    ///
    /// - Parameter isFirst: true for the first hello on the link.
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

    /// Handles a device that is online or has changed. If its roster differs, one of the two
    /// devices calls.
    func consider(_ peer: Peer) {
        guard differs(peer) else { return settle(peer.deviceID) }
        records[peer.deviceID].exchange.isOpen = true
        schedule(peer.deviceID, after: turn(peer.deviceID))
    }

    /// Handles the detection of a member by a mark: the member or this device is in another epoch.
    func detected(_ device: DeviceID) {
        records[device].exchange.isOpen = true
        // Usually the change of the epoch is on its way here, too.
        schedule(device, after: Self.secondTurn + turn(device))
    }

    private func differs(_ peer: Peer) -> Bool {
        pool.snapshot.held != nil && (peer.rosterDigest != pool.snapshot.rosterDigest || !pool.snapshot.isCurrent)
    }

    /// Ends the exchange with a device that has everything.
    private func settle(_ device: DeviceID) {
        guard records[device].exchange.pending.isEmpty else { return }
        records[device].exchange.isOpen = false
        records[device].exchange.tries = 0
        records[device].exchange.timer = nil
    }

    // MARK: - Retrying

    /// The delay before this device calls about a difference that both may notice.
    private func turn(_ device: DeviceID) -> Duration {
        let spread = min(Self.spread.each * max(pool.snapshot.live.count - 3, 0), Self.spread.max)
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

    /// Sends everything to a device that still differs. Does nothing while no route to it is known.
    private func retry(_ device: DeviceID) {
        guard records[device].exchange.isOpen, pool.snapshot.held != nil else { return }
        // The connection may have ended unnoticed.
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
        records[link.device].exchange.pending = []
        records[link.device].exchange.sent = loop.now
        link.sendStatements(state.roster.encoded())
        offerEpochKey(link)
    }

    /// Sends the account key in force, if the device is live in the stored roster and does not
    /// announce that it has the key.
    private func offerEpochKey(_ link: PeerLink) {
        guard link.peerHello?.epoch != pool.snapshot.epochName,
            let held = accountStore.state?.keyToHandOver(to: link.device)
        else {
            return
        }
        link.sendEpochKey(EpochKeyBody.encode(held))
    }

    /// Merges statements from a link, and reports whether its device is live now.
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
                log.info(
                    isMember ? "A new device was introduced" : "An unknown device was refused",
                    ["device": device.short])
                done(isMember ? .live : .notLive)
            }
        }
    }

    /// Accepts the key of an epoch if the roster commits to it.
    func receiveEpochKey(_ link: PeerLink, _ body: [UInt8]) {
        guard let key = EpochKeyBody.decode(body) else { return link.close(.message(.field("epochKey"))) }
        accountStore.accept(key) { _ in }
    }
}
