import HandoffControl
import HandoffDiscovery
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// The control interface (`dev.handoff1.Control`), which the user's own tools call. Lives on the
/// daemon's loop.
final class ControlService {
    /// The maximum timeout that a caller may request, in seconds.
    private static let maxTimeout = 3600.0

    private let log: Logger
    unowned let core: DaemonCore
    let loop: EventLoop
    let accountStore: AccountStore
    let peers: Peers
    let apps: AppService
    let installed: DesktopApps
    let switches: SwitchController
    let account: AccountService
    private let pairing: PairingService
    private let networks: NetworkService
    private let history: History
    private(set) var offerTable = OfferTable()
    private var acceptance = AutomaticAcceptance()
    private var watchers: [ObjectIdentifier: ControlCall] = [:]
    private lazy var changes = ChangeReports(loop: loop, service: self)

    init(
        log: Logger, core: DaemonCore, account: AccountService, pairing: PairingService, networks: NetworkService,
        history: History
    ) {
        self.log = log
        self.core = core
        loop = core.loop
        accountStore = core.accountStore
        peers = core.peers
        apps = core.apps
        installed = core.installed
        switches = core.switches
        self.account = account
        self.pairing = pairing
        self.networks = networks
        self.history = history
    }

    /// Returns the current values that `FollowChanges` reports changes of.
    func answers() -> ChangeReports.Answers {
        ChangeReports.Answers(
            status: status(), devices: account.devices(), apps: listApps(), recent: shownRecent())
    }

    /// Handles a call of the control interface.
    func handle(_ method: ControlMethod, _ call: ControlCall) {
        do {
            switch method {
            case .getStatus: call.reply(status().json)
            case .followChanges: try changes.follow(call)
            case .setSwitches: try setSwitches(call)
            case .listNetworks: networks.list(call)
            case .trustNetwork: try networks.trust(call)
            case .forgetNetwork: try networks.forget(call)
            case .diagnose: diagnose { call.reply($0.json) }
            case .readLog: try history.read(call)
            case .followLog: try history.follow(call)
            case .createAccount: account.create(call)
            case .getAccount: account.get(call)
            case .exportAccount: try account.export(call)
            case .importAccount: try account.import(call)
            case .revokeExport: try account.revokeExport(call)
            case .pair: try pairing.pair(call)
            case .answerPairing: try pairing.answer(call)
            case .join: try pairing.join(call)
            case .removeDevice: try account.removeDevice(call)
            case .renameDevice: try account.renameDevice(call)
            case .setDeviceAccepted: try account.setDeviceAccepted(call)
            case .leaveAccount: try account.leave(call)
            case .rotateKey: account.rotateKey(call)
            case .listDevices: account.listDevices(call)
            case .addPeer: try changePeers(call, { $0.adding($1) }, { $0.add($1) }, isNew: true)
            case .removePeer: try changePeers(call, { $0.removing($1) }, { $0.remove($1) })
            case .listActivities: try list(call)
            case .listPublished:
                call.reply(["activities": .array(published().map { .object($0.json) })])
            case .withdraw: try withdraw(call)
            case .watch: try watch(call)
            case .continue: try begin(try ContinueRequest(json: call.parameters), for: call)
            case .listApps:
                call.reply(["apps": .array(listApps().map { .object($0.json) })])
            case .setAppEnabled: try setAppEnabled(call)
            case .setAppNotified: try setAppNotified(call)
            case .setAppKept: try setAppKept(call)
            }
        } catch {
            call.fail(error)
        }
    }

    /// Handles a possible change of the offers, or of what would open them. Watchers receive the
    /// difference.
    ///
    /// - Parameter devices: the devices whose offers may have changed; nil for all.
    func offersChanged(of devices: Set<DeviceID>? = nil) {
        changes.review()
        let offers = shownOffers(of: devices)
        let events = offerTable.update(offers, of: devices)
        core.tray.review()
        guard !events.isEmpty else { return }
        let notified = offers.compactMap(notificationOffer)
        // First, so that no prompt is shown for these.
        for offer in acceptance.choose(notified, of: devices, limits: core.appSwitches.accepted) {
            core.notifications.choose(offer, token: nil)
        }
        core.notifications.take(notified.filter(isNotified), of: devices)
        for call in watchers.values {
            for event in events { call.replyContinuing(event.json) }
        }
    }

    /// Handles a possible change of the activities of this device that are kept.
    func keptChanged() {
        changes.review()
        core.tray.review()
    }

    /// Handles a possible change of other values that `FollowChanges` reports.
    func reviewChanges() { changes.review() }

    /// Stores a change of the configured addresses, then applies it.
    private func changePeers(
        _ call: ControlCall, _ change: (PeersFile, StaticAddress) -> PeersFile,
        _ apply: @escaping (Peers, StaticAddress) -> Void, isNew: Bool = false
    ) throws {
        let text = try Fields(call.parameters).text("address")
        guard let address = StaticAddress(text) else { throw CallError.invalidAddress(text) }
        // An earlier version accepted other addresses, which can still be removed.
        if isNew { _ = try StaticPeer(given: address) }
        let known = core.peersFile
        let changed = change(known, address)
        // Adding an existing address succeeds. Removing an absent one fails, because the user may
        // have meant another.
        guard changed != known || changed.addresses.contains(address) else {
            throw CallError.addressNotAdded(text)
        }
        core.store(changed) { [peers] result in
            switch result {
            case .success:
                apply(peers, address)
                call.reply([:])
            case .failure(let error): call.fail(error)
            }
        }
    }

    private func setAppEnabled(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let isOn: Bool = try fields.value("enabled")
        setApp(try fields.text("app"), { if isOn { $0.disabled.remove($1) } else { $0.disabled.insert($1) } }) {
            Self.answer(call, $0)
        }
    }

    private func setAppNotified(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let isOn: Bool = try fields.value("notified")
        setApp(try fields.text("app"), { if isOn { $0.muted.remove($1) } else { $0.muted.insert($1) } }) {
            Self.answer(call, $0)
        }
    }

    private func setAppKept(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let isOn: Bool = try fields.value("kept")
        setApp(try fields.text("app"), { if isOn { $0.unkept.remove($1) } else { $0.unkept.insert($1) } }) {
            Self.answer(call, $0)
        }
    }

    private static func answer(_ call: ControlCall, _ result: Result<String, any Error>) {
        switch result {
        case .success(let app): call.reply(["app": .string(app)])
        case .failure(let error): call.fail(error)
        }
    }

    private func isNotified(_ offer: NotificationOffer) -> Bool {
        // An activity that was closed is on the list of recent ones.
        guard offer.kept?.state != .ended else { return false }
        return offer.app.map { !core.appSwitches.muted.contains($0) } ?? true
    }

    /// Changes the user's switches. The device is a member's name or the beginning of its id.
    private func setSwitches(_ call: ControlCall) throws {
        let request = try SetSwitchesRequest(json: call.parameters)
        let device = try request.device.map { try account.member($0) }
        guard device != accountStore.deviceID else {
            throw CallError.noSuchDevice(
                request.device ?? "", "this is the device itself: omit the device to switch for all others")
        }
        switches.set(request, device: device, live: accountStore.snapshot.live) { result in
            switch result {
            case .success(let switches): call.reply(switches.json)
            case .failure(let error): call.fail(error)
            }
        }
    }

    private func list(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let here = try fields.isSet("here")
        let shown = try fields.isSet("recent") ? shownRecent() : shownOffers()
        let activities = shown.lazy.filter { !here || $0.opens.kind != .nothing }
        call.reply(["activities": .array(activities.map { .object($0.json) })])
    }

    private func withdraw(_ call: ControlCall) throws {
        let prefix = try Fields(call.parameters).text("activity")
        switch OfferSelection.choose(apps.publications(), prefix: prefix, id: \.id) {
        case .nothing:
            guard let kept = core.keeping.withdrawOwn(prefix) else {
                throw CallError.noSuchActivity(publishedHere: prefix)
            }
            call.reply(["activity": .string(kept.hex)])
        case .ambiguous(let candidates): throw CallError.ambiguous(prefix, candidates)
        case .one(let activity):
            try apps.withdraw(activity.id)
            call.reply(["activity": .string(activity.id.hex)])
        }
    }

    private func watch(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        // Existing watchers receive pending changes first, so that the new one starts from the same
        // state.
        offersChanged()
        for offer in shownOffers() { call.replyContinuing(WatchEvent.added(offer).json) }
        call.replyContinuing(WatchEvent.ready.json)
        let key = ObjectIdentifier(call)
        watchers[key] = call
        call.onClosed = { [self] in watchers[key] = nil }
    }

    /// Returns an activity as it is on offer now.
    func offered(_ activity: ActivityID, by device: DeviceID) -> OfferedActivity? {
        shownOffers(of: [device]).first { $0.id == activity }
    }

    /// Starts a requested continuation.
    ///
    /// - Parameters:
    /// - token: for the app or browser that is started.
    /// - caller: receives the outcome unless this throws.
    /// - Throws: if no offer matches, or nothing opens it.
    func begin(_ request: ContinueRequest, token: ActivationToken? = nil, for caller: any ContinuationCaller) throws {
        if request.back == true { return try beginBack(request, token: token, for: caller) }
        let prefix = request.activity
        let take = request.take ?? false
        guard accountStore.state != nil else {
            throw CallError(AccountStore.Refusal.noAccount)
        }
        let names = accountStore.snapshot.names
        let source = request.from.map(names.choose)
        if case .ambiguous(let devices)? = source { throw CallError.ambiguous(request.from ?? "", devices, names) }
        func isAddressed(_ offer: Offer) -> Bool {
            // A clipboard is pasted. It must not displace the activity that the user wants to continue.
            if prefix == nil, request.type == nil, offer.activity.type == .clipboard { return false }
            return (request.type.map { $0.utf8.elementsEqual(offer.activity.type.text.utf8) } ?? true)
                && (source.map { $0 == .one(offer.device) } ?? true)
        }
        var kept = keptOffers()
        var fitting = (offers() + kept.map(\.offer)).filter(isAddressed)
        if let prefix, !fitting.contains(where: { $0.activity.id.hex.hasPrefix(prefix.lowercased()) }) {
            kept = keptOffers(isRecent: true)
            fitting += kept.map(\.offer).filter(isAddressed)
        }
        if prefix == nil, !take {
            // A request without an id prefers an activity that can be opened, even if another is
            // newer.
            let openable = fitting.filter { (try? recipient(of: $0.activity, for: request)) != nil }
            if !openable.isEmpty { fitting = openable }
        }
        switch OfferSelection.choose(fitting, prefix: prefix, id: { $0.activity.id }) {
        case .nothing:
            // If the requested activity exists but is switched off, that is the reason.
            let hidden = hiddenOffers().filter(isAddressed)
            if case .one(let offer) = OfferSelection.choose(hidden, prefix: prefix, id: { $0.activity.id }),
                let restriction = switches.restriction(.receive, of: offer.activity.type, with: offer.device)
            {
                throw CallError.switchedOff(restriction)
            }
            if let failure = asleep(request.from) { throw failure }
            throw CallError.control(
                .nothingToContinue,
                prefix.map { "no activity on offer has an id starting with \($0)" }
                    ?? "no other device offers a matching activity" + asleepWords)
        case .ambiguous(let candidates):
            throw CallError.ambiguous(prefix ?? "", candidates)
        case .one(let offer):
            let recipient = take ? .caller : try recipient(of: offer.activity, for: request)
            core.broker.begin(
                ContinuationBroker.Request(
                    offer: offer, origin: peers.origin(of: offer.device),
                    recipient: recipient, timeout: request.timeout.flatMap(Self.duration), token: token,
                    isChosen: request.app != nil, mayBeOlder: request.older == true,
                    kept: kept.first { $0.offer == offer }), for: caller)
        }
    }

    /// Starts the continuation of the newest state that another device has made of a local activity.
    private func beginBack(
        _ request: ContinueRequest, token: ActivationToken?, for caller: any ContinuationCaller
    ) throws {
        let own = apps.publications().filter { request.activity != nil || $0.continued != nil }
        let chosen: PublishedActivity
        switch OfferSelection.choose(own, prefix: request.activity, id: \.id) {
        case .nothing: throw CallError.noSuchActivity(publishedHere: request.activity ?? "")
        case .ambiguous(let candidates): throw CallError.ambiguous(request.activity ?? "", candidates)
        case .one(let activity): chosen = activity
        }
        guard let activity = local(chosen) else { throw CallError.noSuchActivity(publishedHere: chosen.id.hex) }
        let newer = core.lineages.newest(following: [activity], receivedAs: core.handover.offers)
        guard let newest = newer[activity.id] else { throw HandoffFailure.nothingNewer() }
        var request = request
        request.back = nil
        request.activity = newest.activity.hex
        request.from = newest.device.hex
        try begin(request, token: token, for: caller)
    }

    /// The activities of this device, with the newest states that other devices have of them.
    private func published() -> [PublishedActivity] {
        let published = apps.publications()
        let locals = published.map(local)
        let newer = core.lineages.newest(following: locals.compactMap(\.self), receivedAs: core.handover.offers)
        return zip(published, locals).map { activity, local in
            var activity = activity
            activity.newer = local.flatMap { newer[$0.id] }
            return activity
        }
    }

    private func local(_ activity: PublishedActivity) -> LocalActivity? {
        apps.store.offered(activity.id) ?? apps.store.activity(activity.id)
    }

    /// The devices that offer nothing because they are asleep, after a colon; empty for none, or
    /// for more than three.
    private var asleepWords: String {
        let asleep = accountStore.snapshot.others.sorted().compactMap { peers.asleep($0)?.message }
        return (1...3).contains(asleep.count) ? ": \(asleep.joined(separator: ", "))" : ""
    }

    /// The failure if the device of a requested continuation is asleep; nil otherwise.
    private func asleep(_ from: String?) -> HandoffFailure? {
        guard let from, let device = try? account.member(from) else { return nil }
        return peers.asleep(device)
    }

    /// Returns a number of seconds sent by a client as a duration within limits; nil if it is not
    /// positive and finite.
    private static func duration(_ seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds > 0 else { return nil }
        return .seconds(min(seconds, maxTimeout))
    }
}
