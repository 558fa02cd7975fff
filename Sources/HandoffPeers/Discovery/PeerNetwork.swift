import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffLog
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO
import Timing

/// The other devices: who is there, what they offer, and what they are told of this one. Lives on the daemon's loop.
///
/// `PeerTable` and `AdvertMachine` decide; this drives them: it opens and seals datagrams, feeds them with what
/// discovery and connections say, and performs what they ask for.
final class PeerNetwork {
    let loop: EventLoop
    let log: Logger
    let socket: DatagramSocket
    private let wallClock: any WallClock
    /// Weak because `Peers` owns this part.
    weak var peers: Peers?
    var advertising: Advertising
    var snapshot: AccountSnapshot
    /// The members that are in reach, and what they offer.
    var table: PeerTable
    var machine: AdvertMachine
    /// The labels under which this device can be called.
    var labels: OwnLabels
    /// The parties that may call under them.
    var callers = CallerTable()
    /// Numbers the calls of this device.
    let calls: CallCounter
    /// The label of the record by which this device is found while it has no account key yet; nothing is accepted under it.
    private var joiningLabel: Label?
    /// What this device says of itself.
    var announcer: Announcer
    var openingBudget = OpeningRateLimiter()
    var sentAdverts = SentAdverts()
    let records: PeerRecords
    let beacons: BeaconPublisher
    /// Services whose beacon could not be opened yet, since their device is not known; looked at again at each change.
    var unopened: [String: DiscoveredService] = [:]
    /// Services whose label is foreign: of other accounts, or of members in another epoch; all of them while this device is
    /// joining.
    var strangers: [String: DiscoveredService] = [:]
    /// The members that are not in reach, and the marks by which they are found.
    var missing: MissingMembers
    /// Runs while services wait to be looked at again.
    var lookTimer: LoopTimer?
    /// Another machine runs with this device's identity; nothing is said until the daemon is started anew.
    private(set) var isCloned = false
    /// The networks in which devices were lost.
    var searchNetworks = SearchNetworks()
    /// When a record of this very device was last answered.
    var lastGreetedTwin: MonotonicInstant?
    /// From which of our addresses to answer, by where datagrams came from.
    var routes: [PeerAddress: LocalEndpoint] = [:]
    private var timer: LoopTimer?
    private var labelTimer: LoopTimer?
    private var networkTimer: LoopTimer?
    /// Why this device is not there for the others, as they were told; nil while it is.
    private(set) var farewell: Farewell?
    /// Nothing is said in any network, and what was known of the others is of no use.
    private(set) var isSilent = false
    /// Called once when all devices know that this one goes to sleep.
    private var onAllKnow: (() -> Void)?
    /// Announcements are sealed with another epoch's keys than the last ones.
    private var hasNewEpoch = false
    /// Runs while the label is of a former epoch.
    private var spreadTimer: LoopTimer?
    /// Runs until the beacon is to be renewed for the sake of its marks.
    private var markTimer: LoopTimer?
    /// When the latest advert was signed, with ages as of then.
    var signed = MonotonicInstant(nanoseconds: 0)

    /// An advert that was signed longer ago is signed again before it greets a device: its ages would mislead.
    static let freshness = Duration.seconds(10)

    /// How long addresses may take to settle: an interface that comes up brings several, one after the other.
    static let settling = Duration.milliseconds(300)

    /// Routes that are remembered; with more of them the kernel chooses anew.
    static let maxRoutes = 512
    /// How often records of this very device are answered, and at how many of their addresses: anyone may repeat them.
    static let twinInterval = Duration.seconds(10)
    static let maxTwinAddresses = 4
    /// Services that are remembered without having been opened: as many as discovery tells members from.
    static let maxUnopened = 256
    /// Over how long the members spread their new labels after a change of the epoch. If all changed at one moment, an observer of
    /// the link would see that they belong together.
    private static let labelSpread = Duration.seconds(180)
    /// Over how long the members spread the renewal of their beacons for tickets that another one has signed.
    private static let ticketSpread = Duration.seconds(60)
    /// How soon a beacon follows that has marks for others than the one before, while there are too many.
    private static let markRotation = Duration.seconds(30)

    init(
        loop: EventLoop, log: Logger, socket: DatagramSocket, speaker: Announcer.Speaker, boot: UInt64,
        snapshot: AccountSnapshot, staticCalls: StaticCalls,
        discovery: any Discovery, records: PeerRecords, settings: Peers.Settings, wallClock: any WallClock
    ) {
        self.loop = loop
        self.log = log
        self.wallClock = wallClock
        self.socket = socket
        self.records = records
        advertising = settings.advertising
        self.snapshot = snapshot
        announcer = Announcer(speaker: speaker, boot: boot, grease: settings.grease)
        calls = CallCounter(boot: boot)
        labels = OwnLabels(staticCalls)
        table = PeerTable(own: speaker.deviceID, ownPosition: Position(boot: boot, seq: 0), lifetime: settings.lifetime)
        missing = MissingMembers(PairwiseTable(own: speaker.key))
        missing.accountChanged(snapshot)
        machine = AdvertMachine(at: loop.now)
        beacons = BeaconPublisher(loop: loop, log: log, discovery: discovery, port: speaker.port)
    }

    /// The device as the origin or the receiver of an activity.
    func origin(of device: DeviceID) -> Origin {
        Origin(device: device, deviceName: snapshot.label(of: device), deviceKind: table[device]?.kind ?? .other)
    }

    /// Begins to receive, and to speak if there is an account.
    func start() {
        socket.onDatagram = { [unowned self] bytes, source, local in received(bytes, from: source, at: local) }
        beacons.network = self
        renewLabel()
    }

    /// The moment of the loop's clock, for the machines.
    var now: MonotonicInstant { loop.now }

    /// The moment by both clocks, for the proofs of records.
    var moment: MissingMembers.Moment {
        MissingMembers.Moment(instant: loop.now, unixSeconds: wallClock.signedUnixSeconds)
    }

    /// The label of the record that this device publishes; nil without an account.
    var publishedLabel: Label? { labels.label ?? joiningLabel }

    /// Takes the account as it is now: other keys, other members, or none. Who is no member any more is forgotten at once.
    func take(_ snapshot: AccountSnapshot) {
        if snapshot.heldRecord != self.snapshot.heldRecord { hasNewEpoch = true }
        if snapshot.accountID != self.snapshot.accountID { labels.clear() }
        renewMarks(for: snapshot.openTickets)
        self.snapshot = snapshot
        missing.accountChanged(snapshot)
        updateCallers()
        sentAdverts.retain(snapshot.others)
        handle(table.retain(snapshot.others))
    }

    /// Says what the account that was taken last changes in what this device says.
    func accountChanged() {
        if publishedLabel == nil || (joiningLabel != nil) != snapshot.isJoining {
            renewLabel()
        } else {
            say(renewed: hasNewEpoch && farewell != .sleep ? .other : nil)
            takeDigest()
            if hasNewEpoch {
                beacons.keysChanged()
                spreadLabel()
            }
        }
        hasNewEpoch = false
        reconsiderUnopened()
    }

    /// The digest of the roster goes along with what is said next.
    private func takeDigest() {
        do {
            try announcer.take(rosterDigest: snapshot.rosterDigest)
        } catch {
            log.fault("Cannot sign an announcement", ["error": "\(error)"])
        }
    }

    /// Keeps the present label until a moment of this device's own.
    private func spreadLabel() {
        guard spreadTimer == nil else { return }
        let wait = Self.labelSpread * Double.random(in: 0...1)
        spreadTimer = loop.timer(after: wait, accuracy: .seconds(1)) { [unowned self] in renewLabel() }
    }

    /// Takes a new random label, under which nobody can tell that it is the same device as before.
    func renewLabel() {
        // A new one comes with waking.
        guard farewell != .sleep, !isSilent else { return }
        spreadTimer = nil
        guard let keys = snapshot.held else {
            labels.clear()
            announcer.clear()
            return renewJoiningLabel()
        }
        joiningLabel = nil
        labels.renew(keys, now: loop.now)
        updateCallers()
        beacons.labelChanged()
        say()
        armLabelTimer()
    }

    /// A device that waits for its account key has a record without a beacon, which looks like any other: members whose clocks differ
    /// find in it that it is there now.
    private func renewJoiningLabel() {
        joiningLabel = snapshot.isJoining ? Label(bytes: Randomness.bytes(Label.byteCount)) : nil
        guard joiningLabel != nil else { return beacons.withdraw() }
        beacons.labelChanged()
        beacons.changed()
        armLabelTimer()
    }

    /// Tickets were opened, or are open no more.
    private func renewMarks(for tickets: [OpenTicket]) {
        let former = self.snapshot.openTickets
        let kept = Set(tickets.map(\.id)).intersection(former.map(\.id))
        let issuers = (tickets + former).filter { !kept.contains($0.id) }.map(\.issuer)
        guard !issuers.isEmpty else { return }
        renewMarks(within: issuers.contains(snapshot.own) ? .zero : Self.ticketSpread)
    }

    /// Renews the beacon for the marks beside it, some time within `time`; as soon as may be for zero.
    private func renewMarks(within time: Duration) {
        guard markTimer?.isArmed != true || time == .zero else { return }
        let wait = time * Double.random(in: 0...1)
        markTimer = loop.timer(after: wait, accuracy: .milliseconds(100)) { [unowned self] in
            beacons.changed(isAwaited: time == .zero)
        }
    }

    /// The beacon was made: there may be more to mark than it has places for.
    func beaconMade() {
        guard missing.leavesTicketsOut, markTimer?.isArmed != true else { return }
        markTimer = loop.timer(after: Self.markRotation, accuracy: .seconds(1)) { [unowned self] in
            beacons.changed()
        }
    }

    /// Our addresses have changed: a new label, once they have settled.
    func networkChanged() {
        guard networkTimer?.isArmed != true else { return }
        networkTimer = loop.timer(after: Self.settling) { [unowned self] in
            noteAddresses(beacons.ownAddresses)
            renewLabel()
            machine.networkChanged(at: now)
            rearm()
        }
    }

    /// Says what there is to say, if the others do not know it yet.
    ///
    /// - Parameter renewed: says it again even so, as news of this kind.
    func say(renewed: Announcer.Novelty? = nil) {
        guard let label = labels.label, snapshot.held != nil, !isCloned, !isSilent else { return }
        let news = Announcer.News(
            label: label, rosterDigest: snapshot.rosterDigest, farewell: farewell, activities: announcedOffers())
        let novelty: Announcer.Novelty
        do {
            guard let said = try announcer.say(news, renewed: renewed) else { return }
            novelty = said
        } catch {
            log.fault("Cannot sign an announcement", ["error": "\(error)"])
            return
        }
        signed = loop.now
        table.ownPosition = announcer.position
        table.ownListSeq = announcer.listSeq
        perform(
            farewell != nil
                ? machine.leaving(peers: table, at: now) : machine.changed(novelty == .offers, peers: table, at: now))
        // A beacon without activities is not even renewed with them: that would tell when the user does something.
        if novelty == .other || farewell != nil || listsInBeacon { beacons.changed() }
    }

    /// Tells everyone that this device leaves; what it offered is void at once.
    func sayGoodbye() {
        guard farewell != .goodbye else { return }
        farewell = .goodbye
        onAllKnow = nil
        table.forgetLost()
        say()
    }

    /// Tells everyone that this machine goes to sleep; what it offered is void until it wakes.
    ///
    /// - Parameter completion: called once, and not inside this call, when all that are there have confirmed it; never when one of
    ///   them does not, or this device wakes before.
    func fallAsleep(completion: @escaping () -> Void) {
        guard farewell == nil else { return }
        farewell = .sleep
        onAllKnow = completion
        table.forgetLost()
        say()
        // The record would stay in the others' caches, and the beacon says less than the advert has told them.
        beacons.withdraw()
        loop.later { [weak self] in self?.tellIfAllKnow() }
    }

    /// The machine is awake: tells everyone at once that this device is there, under a new label.
    func wakeUp() {
        guard farewell == .sleep else { return }
        farewell = nil
        onAllKnow = nil
        renewLabel()
    }

    /// Says less often what is said again and again, or as often as else.
    func setSavesPower(_ savesPower: Bool) {
        machine.savesPower = savesPower
        beacons.savesPower = savesPower
        rearm()
    }

    /// Falls silent in all networks, or speaks again, under a new label.
    func setSilent(_ isSilent: Bool) {
        guard isSilent != self.isSilent else { return }
        self.isSilent = isSilent
        guard isSilent else { return renewLabel() }
        beacons.withdraw()
        // They were found in another network.
        table.forgetLost()
        for peer in table.all { handle(table.remove(peer.deviceID, because: .unreachable)) }
        records.updateAll { $0.sighting = nil }
        unopened = [:]
        strangers = [:]
    }

    /// Somebody has confirmed what this device says of itself.
    func tellIfAllKnow() {
        guard let onAllKnow, machine.isSettled(peers: table) else { return }
        self.onAllKnow = nil
        onAllKnow()
    }

    /// Another machine uses this device's identity: falls silent, so that the two do not overwrite each other.
    func fallSilent() {
        guard !isCloned else { return }
        isCloned = true
        log.error("Another machine runs with this device's identity; nothing is advertised until one of them is reset")
        beacons.withdraw()
    }

    /// Goes on under a greater start number, which has been stored.
    func restart(boot: UInt64) {
        announcer.restart(boot: boot)
        calls.boot = boot
        say()
    }

    /// Performs what the machine asks for, then arms the timer for what comes next.
    func perform(_ actions: [AdvertAction]) {
        for action in actions {
            switch action {
            case .send(let address, let device, let label): sendAdvert(to: address, device: device, label: label)
            case .acknowledge(let position, let device, let label, let arrival):
                sendAcknowledgement(of: position, to: device, label: label, arrival)
            case .useConnection(let id): deliverByConnection(to: id)
            case .renew: if farewell != .sleep { say(renewed: .other) }
            case .depart(let id, let reason):
                handle(table.lose(id, because: reason, at: now))
            }
        }
        rearm()
    }

    /// Acts on what became different in the table.
    func handle(_ changes: [PeerChange]) {
        var changed: Set<DeviceID> = []
        for change in changes {
            switch change {
            case .appeared(let id), .changed(let id):
                changed.insert(id)
                perform(machine.discovered(id, peers: table, at: now))
                if let peer = table[id] { peers?.sync.consider(peer) }
            case .offersChanged(let id): changed.insert(id)
            case .moreToFetch(let id): peers?.lists.fetch(of: id)
            case .gone(let id, let reason):
                changed.insert(id)
                machine.forget(id)
                machine.lost(id, peers: table, at: now)
                log.info("Device is gone", ["device": id.short, "reason": "\(reason)"])
            }
        }
        if !changed.isEmpty { peers?.devicesChanged(changed) }
        rearm()
    }

    /// Believes what the other devices offer for this long without renewal.
    func setLifetime(_ lifetime: Duration) {
        table.lifetime = lifetime
        rearm()
    }

    /// Arms the timer for what comes next.
    func rearm() {
        let deadlines = [machine.nextDeadline(peers: table), table.nextDeadline].compactMap { $0 }
        guard let next = deadlines.min() else {
            timer?.cancel()
            timer = nil
            return
        }
        let wait = next.duration(since: now)
        // Repeats of datagrams are a matter of milliseconds, renewals of minutes.
        let accuracy: Duration = wait < .seconds(5) ? .milliseconds(1) : .seconds(1)
        timer = loop.timer(after: wait, accuracy: accuracy) { [unowned self] in deadlinePassed() }
    }

    private func deadlinePassed() {
        handle(table.expire(at: now))
        perform(machine.deadlinePassed(peers: table, at: now))
    }

    private func armLabelTimer() {
        // 15 to 20 minutes: who watches the link cannot tell by the clock which new label follows which old one.
        let seconds = Int.random(in: 900...1200)
        labelTimer = loop.timer(after: .seconds(seconds), accuracy: .seconds(1)) { [unowned self] in
            renewLabel()
        }
    }
}
