import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDiscovery
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// The parts of the daemon and their connections. Lives on the daemon's loop, inside the `Daemon`
/// actor.
///
/// A part has references to the parts that it uses. Parts that report events have a reference to
/// this core, or a delegate, which is this core. `DaemonCore+Delegates.swift` shows how events
/// propagate.
final class DaemonCore {
    let loop: EventLoop
    let log: Logger
    private(set) var configuration: Configuration
    /// The administrator's policy.
    private var policy: Policy
    let stored: StoredState
    let name: String
    let port: UInt16
    let discovery: any Discovery
    /// The discovery for announcing and finding pairing windows.
    let pairingDiscovery: PairingDiscovery
    private(set) var discoveryStates = DiscoveryStates()
    let wallClock: any WallClock
    let worker: Worker
    /// The access to apps and to the desktop.
    let desktopAccess: DesktopAccess
    /// The link to the user's desktop; nil if there is none.
    let desktop: DesktopLink?
    /// The remaining attempts for pairing codes. They outlive the windows and this core.
    let pairingAttempts: PairingAttempts
    let accountStore: AccountStore
    /// The other devices.
    let peers: Peers
    /// The stored addresses that were added by command.
    var peersFile: PeersFile
    /// The stored settings of apps.
    var appSwitches: AppSwitches
    /// The calls that wait until the other members confirm a removal.
    let removals = RemovalReports()
    /// The generation of this start.
    private(set) var generation: UInt64
    /// Called when this device has left its account, with the state for the next core.
    var onLeft: ((StoredState) -> Void)?

    init(
        loop: EventLoop, log: Logger, worker: Worker, configuration: Configuration, policy: Policy,
        stored: StoredState, name: String,
        port: consuming BoundPort, discovery: any Discovery, pairingDiscovery: PairingDiscovery,
        pairingAttempts: PairingAttempts,
        apps: DesktopAccess, desktop: DesktopLink?,
        wallClock: any WallClock
    ) throws {
        self.loop = loop
        self.log = log
        self.worker = worker
        self.configuration = configuration
        self.policy = policy
        self.stored = stored
        self.name = name
        self.port = port.port
        self.discovery = discovery
        self.pairingDiscovery = pairingDiscovery
        self.pairingAttempts = pairingAttempts
        self.wallClock = wallClock
        generation = stored.generation
        peersFile = stored.peers
        appSwitches = stored.apps
        desktopAccess = apps
        self.desktop = desktop
        accountStore = AccountStore(
            device: stored.identity, configuredName: configuration.name, state: stored.account, loop: loop,
            worker: worker, log: log.named("account"), storage: stored.folder, wallClock: wallClock)
        peers = try Peers(
            loop: loop, log: log, worker: worker, stored: stored, accountStore: accountStore, port: port,
            discovery: discovery,
            settings: Peers.Settings(
                advertising: Advertising(configuration), lifetime: configuration.receiverLifetime,
                grease: configuration.grease), wallClock: wallClock)
        peers.delegate = self
    }

    // MARK: - Parts

    private(set) lazy var switches: SwitchController = SwitchController(
        log: log.named("switches"), switches: stored.switches, policy: policy,
        isConfiguredOff: configuration.advertise == .off, core: self)

    /// Tracks whether the screen is locked or idle.
    private(set) lazy var sessions: SessionWatch = SessionWatch(
        loop: loop, log: log.named("sessions"), delays: configuration.sessionDelays, wallClock: wallClock,
        switches: switches, notifications: notifications)

    /// Tracks whether the machine saves power; nil without a desktop.
    private var power: DesktopPower?
    /// Whether the machine saves power.
    private(set) var savesPower = false

    /// The networks in which this device can be discovered.
    private(set) lazy var networks: NetworkWatch = NetworkWatch(
        log: log.named("networks"),
        trust: NetworkTrust(
            policy: configuration.networks, interfaces: configuration.interfaces, known: stored.networks),
        core: self)

    /// The time since another device last answered.
    private(set) lazy var contact: ContactWatch = ContactWatch(
        loop: loop, worker: worker, log: log.named("account"), folder: stored.folder, wallClock: wallClock,
        account: stored.account?.accountID, contact: stored.contact)

    /// Tracks whether the machine goes to sleep.
    private(set) lazy var sleep: SleepWatch = SleepWatch(
        loop: loop, log: log.named("sleep"), peers: peers, contact: contact, keeping: keeping, apps: apps)

    private(set) lazy var notifications: NotificationService = NotificationService(
        loop: loop, log: log.named("notifications"), isOn: configuration.notifications, find: findNotifications,
        delegate: control)

    /// Finds the notification server; nil if no notifications are shown.
    private var findNotifications: NotificationServerFinding? {
        guard let desktop, desktopAccess.hasScreen else { return nil }
        return { DesktopNotifier(desktop, onEvent: $1) }
    }

    /// The icon in the tray, with the offers and the pause.
    private(set) lazy var tray: DesktopTray = DesktopTray(
        loop: loop, desktop: desktopAccess.hasScreen ? desktop : nil, service: control)

    /// Tracks the user's sessions; nil if sessions do not restrict advertising.
    private var followSessions: SessionFollowing? {
        guard let desktop, desktopAccess.hasScreen else { return nil }
        return { DesktopSessions(desktop, onChange: $1) }
    }

    /// The continuation log.
    private(set) lazy var history: History = History(
        // On a separate thread, so that actions of other devices do not delay the account.
        loop: loop, worker: (try? Worker(name: "history")) ?? worker, log: log.named("history"),
        file: HistoryFile(stored.folder), wallClock: wallClock)

    private(set) lazy var handover: HandoverService = HandoverService(
        log: log, accountStore: accountStore, peers: peers, switches: switches, apps: apps,
        streams: streams, history: history, wallClock: wallClock)

    private(set) lazy var apps: AppService = AppService(
        loop: loop, log: log.named("apps"), times: AppService.ActivityTimes(configuration),
        payloadLimit: configuration.payloadLimit, wallClock: wallClock, core: self)

    private(set) lazy var broker: ContinuationBroker = ContinuationBroker(
        loop: loop, log: log.named("continue"), peers: peers, apps: apps, installed: installed, streams: streams,
        notifications: notifications, history: history, keptOffers: keptOffers, keptReceipts: keptReceipts,
        lineages: lineages)

    /// The states of activities on all devices.
    private(set) lazy var lineages: Lineages = Lineages(
        loop: loop, wallClock: wallClock, peers: peers, apps: apps)

    /// The copies of local activities that other devices keep.
    private(set) lazy var keeping: KeepingService = KeepingService(
        loop: loop, log: log.named("kept"), key: stored.identity, accountStore: accountStore, peers: peers, apps: apps,
        switches: switches, offers: keptOffers, receipts: keptReceipts, copier: activityCopier,
        wallClock: wallClock, core: self)

    /// Makes the copies of local activities.
    private(set) lazy var activityCopier: ActivityCopier = ActivityCopier(
        log: log.named("kept"), key: stored.identity, accountStore: accountStore, peers: peers, apps: apps,
        switches: switches, wallClock: wallClock, core: self)

    /// The kept activities that can be continued here.
    private(set) lazy var keptOffers: KeptOffers = KeptOffers(
        loop: loop, key: stored.identity, accountStore: accountStore, peers: peers, apps: apps, receipts: keptReceipts,
        wallClock: wallClock)

    /// The receipts of continued copies.
    private(set) lazy var keptReceipts: KeptReceipts = KeptReceipts(
        loop: loop, worker: worker, log: log.named("kept"), stored: stored, accountStore: accountStore, peers: peers,
        wallClock: wallClock, core: self)

    /// The installed apps, and their start.
    private(set) lazy var installed: DesktopApps = DesktopApps(
        log: log.named("apps"), desktop: desktop, history: stored.claims, core: self)

    /// The apps that could be installed.
    private(set) lazy var catalog: SoftwareCatalog = SoftwareCatalog(desktop: desktop, core: self)

    private(set) lazy var streams: StreamService = StreamService(
        loop: loop, log: log.named("streams"),
        sleepLock: SleepLock(loop: loop, log: log.named("streams"), desktop: desktop), peers: peers,
        accountStore: accountStore, apps: apps, history: history)

    private(set) lazy var accountFiles: AccountFileService = AccountFileService(
        loop: loop, worker: worker, log: log.named("account"), accountStore: accountStore, name: name, peers: peers)

    private(set) lazy var pairing: PairingService = PairingService(
        loop: loop, log: log.named("pairing"), name: name, accountStore: accountStore, switches: switches,
        discovery: pairingDiscovery, attempts: pairingAttempts, wallClock: wallClock,
        configuration: { [unowned self] in configuration })

    private(set) lazy var control: ControlService = ControlService(
        log: log.named("control"), core: self,
        account: AccountService(core: self, files: accountFiles, removals: removals, wallClock: wallClock),
        pairing: pairing, networks: NetworkService(loop: loop, networks: networks, desktop: desktop), history: history)

    /// The account as the network uses it.
    var snapshot: AccountSnapshot { accountStore.snapshot }

    // MARK: - Starting and stopping

    /// Starts all parts. The sockets are already open, so clients and devices are served from here
    /// on.
    func start() {
        _ = contact
        accountStore.delegate = self
        disableApps()
        installed.start()
        switches.start()
        notifications.start()
        tray.setOn(configuration.tray)
        sessions.start(followSessions)
        networks.start()
        keepActivities()
        peers.start()
        sleep.start(desktop)
        power = desktop.map { desktop in
            DesktopPower(desktop) { [weak self] in self?.setSavesPower($0.isSaving) }
        }
        accountStore.review()
        accountStore.applyConfiguredName()
        nameSelf()
        requestMachine()
    }

    /// Starts the discovery of other devices. Call it once the daemon is ready, because it may take
    /// time.
    ///
    /// - Parameter deliver: passes an event from discovery's thread to `discovered` on the loop.
    func startDiscovery(_ deliver: @escaping @Sendable (DiscoveryEvent) -> Void) {
        peers.startDiscovery(configuration.peers + peersFile.addresses, deliver)
    }

    /// Handles an event of discovery.
    func discovered(_ event: DiscoveryEvent) {
        if case .state(let kind, let state) = event { discoveryStates.note(kind, state, log: log) }
        control.reviewChanges()
        if case .networkChanged = event { contact.listensAnew() }
        peers.discovered(event)
    }

    /// Applies whether the machine saves power. Work that the user does not wait for then wakes the
    /// machine less often.
    private func setSavesPower(_ savesPower: Bool) {
        guard savesPower != self.savesPower else { return }
        self.savesPower = savesPower
        peers.setSavesPower(savesPower)
        apps.setSavesPower(savesPower)
        control.reviewChanges()
        log.info("Background work wakes the machine \(savesPower ? "less often" : "as often as usual")")
    }

    /// Applies a change of the interfaces on which this device can be discovered.
    func networksChanged() {
        let limit = networks.trust.limit
        switches.take(networkReason: networks.trust.restriction)
        pairingDiscovery.interfaces = limit
        peers.limit(to: limit)
    }

    /// Applies a reloaded configuration and policy.
    func reconfigure(_ configuration: Configuration, policy: Policy) {
        let former = Set(self.configuration.peers)
        let waiting = configuration.settingsForNextStart(since: self.configuration)
        self.configuration = configuration
        log.setLevel(configuration.logLevel)
        if !waiting.isEmpty {
            let names = waiting.map(\.key).joined(separator: ", ")
            log.notice("Some settings take effect only at the next start", ["settings": names])
        }
        for address in configuration.peers { peers.add(address) }
        for address in former.subtracting(configuration.peers) where !peersFile.addresses.contains(address) {
            peers.remove(address)
        }
        self.policy = policy
        networks.take(configuration.networks)
        sessions.take(configuration.sessionDelays)
        switches.take(policy, isConfiguredOff: configuration.advertise == .off)
        keepActivities()
        peers.setAdvertising(Advertising(configuration), lifetime: configuration.receiverLifetime)
        apps.take(AppService.ActivityTimes(configuration))
        apps.payloadLimit = configuration.payloadLimit
        notifications.setOn(configuration.notifications)
        tray.setOn(configuration.tray)
    }

    private func keepActivities() {
        keeping.setOn(configuration.keep && policy.forbidsKeeping == nil)
    }

    /// Stops all parts: sends a leave message and closes all connections.
    ///
    /// - Parameter withdrawn: called on discovery's thread once the announcements are withdrawn.
    func stop(withdrawn: @escaping @Sendable () -> Void) {
        sessions.stop()
        sleep.stop()
        tray.setOn(false)
        power = nil
        networks.stop()
        peers.leave()
        installed.stop()
        streams.stop()
        peers.stop()
        notifications.stop { [self] in
            pairing.stop { [discovery] in discovery.stop(withdrawn) }
        }
    }

    /// Continues with a greater generation because another device has seen a greater one, after the
    /// restoration of a backup or a change of the clock.
    func raiseGeneration(above seen: UInt64) {
        guard let raised = GenerationFile.raised(current: generation, seen: seen) else { return }
        generation = raised
        worker.run({ [folder = stored.folder] in try folder.store(generation: raised) }, on: loop) {
            [weak self] result in
            guard let self else { return }
            switch result {
            case .success:
                peers.restart(generation: raised)
                keeping.generationRose()
            case .failure(let error): log.error("Cannot store the generation", ["error": "\(error)"])
            }
        }
    }

    /// Requests the kind of the machine. The reply may take time, and nothing waits for it.
    private func requestMachine() {
        desktop?.call(.getMachine) { [weak self] result in
            guard let self, let chassis = try? Fields(result.get()).text("chassis") else { return }
            peers.setKind(DeviceKind(chassis: chassis))
        }
    }
}

extension Advertising {
    fileprivate init(_ configuration: Configuration) {
        let reach: Reach =
            switch configuration.advertise {
            case .all: .all
            case .beaconOnly: .datagrams
            case .off: .none
            }
        self.init(reach: reach, showsTitles: configuration.titles)
    }
}

extension AppService.ActivityTimes {
    fileprivate init(_ configuration: Configuration) {
        self.init(
            saveAnswer: configuration.saveAnswer, refresh: configuration.refresh,
            lifetime: configuration.activityLifetime)
    }
}
