import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// The discovery of the other devices and the announcements to them. Lives on the daemon's loop.
///
/// `PeerTable` and `AdvertMachine` decide, and this class drives them. It opens and seals
/// datagrams, passes them the events of discovery and connections, and performs their actions.
final class PeerNetwork {
    let loop: EventLoop
    let log: Logger
    let socket: DatagramSocket
    private let wallClock: any WallClock
    /// Weak because `Peers` owns this part.
    weak var peers: Peers?
    var advertising: Advertising
    var snapshot: AccountSnapshot
    /// The online members and their offers.
    var table: PeerTable
    var machine: AdvertMachine
    /// The labels under which this device can be called.
    var labels: OwnLabels
    /// The parties that may call under them.
    var callers = CallerTable()
    /// Numbers the calls of this device.
    let calls: CallCounter
    /// The label of the record by which this device is found while it has no account key. Nothing
    /// is accepted under it.
    private var joiningLabel: Label?
    /// The announced state of this device.
    var announcer: Announcer
    var openingBudget = OpeningRateLimiter()
    let records: PeerRecords
    let beacons: BeaconPublisher
    /// Services whose beacon could not be opened because their device is unknown. They are judged
    /// again at each change of the account.
    var unopened: [String: DiscoveredService] = [:]
    /// Services with a foreign label: of other accounts, or of members in another epoch; all of
    /// them while this device is joining.
    var strangers: [String: DiscoveredService] = [:]
    /// The members that are not found, and the marks by which they are found.
    var missing: MissingMembers
    /// Runs while services wait to be judged again.
    var rereadTimer: LoopTimer?
    /// True if another machine runs with this device's identity. Nothing is announced then until
    /// the daemon is restarted.
    private(set) var hasDuplicateIdentity = false
    /// The networks in which devices were lost.
    var searchNetworks = SearchNetworks()
    /// The time at which a record with this identity was last answered.
    var lastGreetedDuplicate: MonotonicInstant?
    /// The local addresses from which to answer, by source.
    var routes: [PeerAddress: LocalEndpoint] = [:]
    private var timer: LoopTimer?
    private var labelTimer: LoopTimer?
    private var networkTimer: LoopTimer?
    /// The announced reason why this device is offline; nil while it is online.
    private(set) var leaveReason: LeaveReason?
    /// True while nothing is sent in any network. The known state of the others is of no use then.
    private(set) var isSilent = false
    /// Called once all devices have confirmed that this one goes to sleep.
    private var onAllConfirmed: (() -> Void)?
    /// True if announcements are sealed with the keys of another epoch than the last ones.
    private var hasNewEpoch = false
    /// Runs while the label is of a former epoch.
    private var spreadTimer: LoopTimer?
    /// Runs until the beacon is renewed for its marks.
    private var markTimer: LoopTimer?
    /// The time at which the latest advert was signed. Its ages are as of then.
    var signed = MonotonicInstant(nanoseconds: 0)

    /// The age from which an advert is signed again before it greets a device: its ages would be
    /// misleading.
    static let freshness = Duration.seconds(10)

    /// The time for addresses to settle: an interface that goes up gets several, one after the
    /// other.
    static let settling = Duration.milliseconds(300)

    /// The maximum number of remembered routes. Beyond it, the kernel chooses again.
    static let maxRoutes = 512
    /// The minimum interval for answers to records with this identity, and the maximum number of
    /// their addresses to answer: any host may repeat them.
    static let duplicateInterval = Duration.seconds(10)
    static let maxDuplicateAddresses = 4
    /// The maximum number of remembered services that were not opened: as many as discovery
    /// distinguishes from members.
    static let maxUnopened = 256
    /// The time over which the members spread their new labels after a change of the epoch. If all
    /// changed at once, an observer of the link would see that they belong together.
    private static let labelSpread = Duration.seconds(180)
    /// The time over which the members spread the renewal of their beacons for another member's
    /// tickets.
    private static let ticketSpread = Duration.seconds(60)
    /// The time to the next beacon, with other marks, while there are too many.
    private static let markRotation = Duration.seconds(30)

    init(
        loop: EventLoop, log: Logger, socket: DatagramSocket, speaker: Announcer.Speaker, generation: UInt64,
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
        announcer = Announcer(speaker: speaker, generation: generation, grease: settings.grease)
        calls = CallCounter(generation: generation)
        labels = OwnLabels(staticCalls)
        table = PeerTable(
            own: speaker.deviceID, ownPosition: Position(generation: generation, seq: 0), lifetime: settings.lifetime)
        missing = MissingMembers(own: speaker.key, snapshot)
        machine = AdvertMachine(at: loop.now)
        beacons = BeaconPublisher(loop: loop, log: log, discovery: discovery, port: speaker.port)
    }

    /// Returns the device as the origin or the receiver of an activity.
    func origin(of device: DeviceID) -> Origin {
        Origin(device: device, deviceName: snapshot.label(of: device), deviceKind: kind(of: device))
    }

    private func kind(of device: DeviceID) -> DeviceKind {
        device == snapshot.own ? announcer.kind : table[device]?.kind ?? .other
    }

    /// Starts to receive, and to announce if there is an account.
    func start() {
        socket.onDatagram = { [unowned self] bytes, source, local in received(bytes, from: source, at: local) }
        beacons.network = self
        renewLabel()
    }

    /// The present time of the loop's clock, for the machines.
    var now: MonotonicInstant { loop.now }

    /// The present moment by both clocks, for the proofs of records.
    var moment: MissingMembers.Moment {
        MissingMembers.Moment(instant: loop.now, unixSeconds: wallClock.signedUnixSeconds)
    }

    /// The label of the record that this device publishes; nil without an account.
    var publishedLabel: Label? { labels.label ?? joiningLabel }

    /// Applies a change of the account: other keys, other members, or none. Former members are
    /// forgotten immediately.
    func take(_ snapshot: AccountSnapshot) {
        if snapshot.heldRecord != self.snapshot.heldRecord { hasNewEpoch = true }
        if snapshot.accountID != self.snapshot.accountID { labels.clear() }
        renewMarks(for: snapshot.openTickets)
        self.snapshot = snapshot
        missing.accountChanged(snapshot)
        updateCallers()
        handle(table.retain(snapshot.others))
    }

    /// Announces the effects of the last applied change of the account.
    func accountChanged() {
        if publishedLabel == nil || (joiningLabel != nil) != snapshot.isJoining {
            renewLabel()
        } else {
            announce(renewed: hasNewEpoch && leaveReason != .sleep ? .other : nil)
            takeDigest()
            if hasNewEpoch {
                beacons.keysChanged()
                spreadLabel()
            }
        }
        hasNewEpoch = false
        reconsiderUnopened()
    }

    /// Updates the roster digest included in the next announcement.
    private func takeDigest() {
        do {
            try announcer.take(rosterDigest: snapshot.rosterDigest)
        } catch {
            log.fault("Cannot sign an announcement", ["error": "\(error)"])
        }
    }

    /// Keeps the present label until a random moment.
    private func spreadLabel() {
        guard spreadTimer == nil else { return }
        let wait = Self.labelSpread * Double.random(in: 0...1)
        spreadTimer = loop.timer(after: wait, accuracy: .seconds(1)) { [unowned self] in renewLabel() }
    }

    /// Creates a new random label, under which this device cannot be recognised as the same one.
    func renewLabel() {
        // Waking creates a new one.
        guard leaveReason != .sleep, !isSilent else { return }
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
        announce()
        armLabelTimer()
    }

    /// Renews the label of a device without the account key. Its record has no beacon and looks
    /// like any other. It shows members whose clocks differ that the device is online now.
    private func renewJoiningLabel() {
        joiningLabel = snapshot.isJoining ? Label(bytes: Randomness.bytes(Label.byteCount)) : nil
        guard joiningLabel != nil else { return beacons.withdraw() }
        beacons.labelChanged()
        beacons.changed()
        armLabelTimer()
    }

    /// Renews the beacon after tickets were opened or closed.
    private func renewMarks(for tickets: [OpenTicket]) {
        let former = self.snapshot.openTickets
        let kept = Set(tickets.map(\.id)).intersection(former.map(\.id))
        let issuers = (tickets + former).filter { !kept.contains($0.id) }.map(\.issuer)
        guard !issuers.isEmpty else { return }
        renewMarks(within: issuers.contains(snapshot.own) ? .zero : Self.ticketSpread)
    }

    /// Renews the beacon for its marks, at a random time within `time`; as soon as possible for
    /// zero.
    private func renewMarks(within time: Duration) {
        guard markTimer?.isArmed != true || time == .zero else { return }
        let wait = time * Double.random(in: 0...1)
        markTimer = loop.timer(after: wait, accuracy: .milliseconds(100)) { [unowned self] in
            beacons.changed(isAwaited: time == .zero)
        }
    }

    /// Schedules another beacon if the last one had no room for all marks.
    func beaconMade() {
        guard missing.leavesTicketsOut, markTimer?.isArmed != true else { return }
        markTimer = loop.timer(after: Self.markRotation, accuracy: .seconds(1)) { [unowned self] in
            beacons.changed()
        }
    }

    /// Creates a new label once this device's changed addresses have settled.
    func networkChanged() {
        guard networkTimer?.isArmed != true else { return }
        networkTimer = loop.timer(after: Self.settling) { [unowned self] in
            noteAddresses(beacons.ownAddresses)
            renewLabel()
            machine.networkChanged(at: now)
            rearm()
        }
    }

    /// Announces this device's state if it has changed.
    ///
    /// - Parameter renewed: announces it in any case, as a change of this kind.
    func announce(renewed: Announcer.Change? = nil) {
        guard let label = labels.label, snapshot.held != nil, !hasDuplicateIdentity, !isSilent else { return }
        let content = Announcer.Content(
            label: label, rosterDigest: snapshot.rosterDigest, leaveReason: leaveReason,
            holdsKept: peers?.holdsKept ?? false, offers: announcedOffers())
        let change: Announcer.Change
        do {
            guard let made = try announcer.update(content, renewed: renewed) else { return }
            change = made
        } catch {
            log.fault("Cannot sign an announcement", ["error": "\(error)"])
            return
        }
        signed = loop.now
        table.ownPosition = announcer.position
        table.ownListSeq = announcer.listSeq
        perform(
            leaveReason != nil
                ? machine.leaving(peers: table, at: now) : machine.changed(change == .offers, peers: table, at: now))
        // A beacon without activities is not even renewed with them: that would show when the user
        // does something.
        if change == .other || leaveReason != nil || listsInBeacon { beacons.changed() }
    }

    /// Announces that this device leaves. Its offers are void immediately.
    func announceLeave() {
        guard leaveReason != .goodbye else { return }
        leaveReason = .goodbye
        onAllConfirmed = nil
        table.forgetLost()
        announce()
    }

    /// Announces that this machine goes to sleep. Its offers are void until it wakes.
    ///
    /// - Parameter completion: called once, and not inside this call, when all online devices have
    ///   confirmed it; never if one of them does not, or if this device wakes first.
    func fallAsleep(completion: @escaping () -> Void) {
        guard leaveReason == nil else { return }
        leaveReason = .sleep
        onAllConfirmed = completion
        table.forgetLost()
        announce()
        // The record would stay in the others' caches, and the beacon contains less than the
        // advert.
        beacons.withdraw()
        loop.later { [weak self] in self?.completeIfAllConfirmed() }
    }

    /// Announces immediately after waking that this device is online, under a new label.
    func wakeUp() {
        guard leaveReason == .sleep else { return }
        leaveReason = nil
        onAllConfirmed = nil
        renewLabel()
    }

    /// Sends periodic announcements less often, or as often as usual.
    func setSavesPower(_ savesPower: Bool) {
        machine.savesPower = savesPower
        beacons.savesPower = savesPower
        rearm()
    }

    /// Stops sending in all networks, or resumes under a new label.
    func setSilent(_ isSilent: Bool) {
        guard isSilent != self.isSilent else { return }
        self.isSilent = isSilent
        guard isSilent else { return renewLabel() }
        beacons.withdraw()
        // They were found in another network.
        table.forgetLost()
        for peer in table.all { handle(table.remove(peer.deviceID, because: .unreachable)) }
        records.updateAll { $0.detection = nil }
        unopened = [:]
        strangers = [:]
    }

    /// Completes `fallAsleep` if all devices have confirmed the announcement.
    func completeIfAllConfirmed() {
        guard let onAllConfirmed, machine.isSettled(peers: table) else { return }
        self.onAllConfirmed = nil
        onAllConfirmed()
    }

    /// Stops announcing: another machine uses this device's identity, and the two must not
    /// overwrite each other.
    func fallSilent() {
        guard !hasDuplicateIdentity else { return }
        hasDuplicateIdentity = true
        log.error("Another machine runs with this device's identity; nothing is advertised until one of them is reset")
        beacons.withdraw()
    }

    /// Continues in a greater generation, which is already stored.
    func restart(generation: UInt64) {
        announcer.restart(generation: generation)
        calls.generation = generation
        announce()
    }

    /// Performs the actions of the machine, then arms the timer for the next deadline.
    func perform(_ actions: [AdvertAction]) {
        for action in actions {
            switch action {
            case .send(let address, let device, let label): sendAdvert(to: address, device: device, label: label)
            case .acknowledge(let position, let device, let label, let arrival):
                sendAcknowledgement(of: position, to: device, label: label, arrival)
            case .useConnection(let id): deliverByConnection(to: id)
            case .renew: if leaveReason != .sleep { announce(renewed: .other) }
            case .depart(let id, let reason):
                handle(table.drop(id, because: reason, at: now))
            }
        }
        rearm()
    }

    /// Handles changes of the table.
    func handle(_ changes: [PeerChange]) {
        var changed: Set<DeviceID> = []
        for change in changes {
            switch change {
            case .appeared(let id), .changed(let id):
                changed.insert(id)
                perform(machine.discovered(id, peers: table, at: now))
                if let peer = table[id] { peers?.consider(peer) }
            case .offersChanged(let id): changed.insert(id)
            case .moreToFetch(let id): peers?.lists.fetch(of: id)
            case .gone(let id, let reason):
                changed.insert(id)
                machine.forget(id)
                machine.lost(id, peers: table, at: now)
                peers?.kept.wentOffline(id)
                log.info("Device is offline", ["device": id.short, "reason": "\(reason)"])
            }
        }
        if !changed.isEmpty { peers?.devicesChanged(changed) }
        rearm()
    }

    /// Sets the validity of other devices' offers without renewal.
    func setLifetime(_ lifetime: Duration) {
        table.lifetime = lifetime
        rearm()
    }

    /// Arms the timer for the next deadline.
    func rearm() {
        let deadlines = [machine.nextDeadline(peers: table), table.nextDeadline].compactMap { $0 }
        guard let next = deadlines.min() else {
            timer?.cancel()
            timer = nil
            return
        }
        let wait = next.duration(since: now)
        // Datagrams are repeated within milliseconds, and renewed within minutes.
        let accuracy: Duration = wait < .seconds(5) ? .milliseconds(1) : .seconds(1)
        timer = loop.timer(after: wait, accuracy: accuracy) { [unowned self] in deadlinePassed() }
    }

    private func deadlinePassed() {
        handle(table.expire(at: now))
        perform(machine.deadlinePassed(peers: table, at: now))
    }

    private func armLabelTimer() {
        let seconds = UInt32.random(in: PublicationGroup.labelLifetime)
        labelTimer = loop.timer(after: .seconds(Int64(seconds)), accuracy: .seconds(1)) { [unowned self] in
            renewLabel()
        }
    }
}
