import DesktopBus
import HandoffControl
import HandoffDocuments
import HandoffHandlers
import HandoffJSON
import HandoffModel
package import LoopIO

/// Implements the methods of `dev.handoff1.Desktop`. Use on the loop's thread.
///
/// The daemon is not trusted. It names an app, but the start command is read from the app's file
/// here. Addresses of pages and types of files are checked here, too. All requests are limited.
package final class DesktopService {
    /// Limits starts of apps and pages. A user does not choose more; eight can be in progress.
    private var starts = RateLimit(every: .milliseconds(160), burst: 64)
    /// Limits shown or replaced notifications. The daemon shows one per second.
    private var notes = RateLimit(every: .milliseconds(160), burst: 64)
    /// Limits changes of the menu in the tray. The daemon changes it once per second.
    private var menus = RateLimit(every: .milliseconds(160), burst: 64)
    /// Limits searches for apps and documents. Each of the daemon's searches follows the former one.
    private var searches = RateLimit(every: .milliseconds(160), burst: 64)
    /// The maximum number of documents of one search.
    private static let maxDocuments = 64
    /// The maximum number of connections that keep the machine awake.
    private static let maxLocks = 4

    /// A request of `StartApp`.
    private struct Start {
        let app: AppID
        let type: ActivityType
        let token: ActivationToken?
        let call: DesktopCall
    }

    private let loop: EventLoop
    private let log: Logger
    private let launcher: AppLauncher
    private let desk: NotificationRelay
    private let sessions: StateRelay<LoginReport>
    private let sleep: SleepRelay
    private let power: StateRelay<MachinePower>
    private let tray: TrayRelay
    private let components: ComponentSearch
    private let environment: [String: String]
    /// Searches shared folders, which may be on a slow disk.
    private lazy var documents = try? Worker(name: "documents")
    /// Performs calls on the system bus, which may block.
    private let worker: Worker?
    private var folders: HandlerFolders?
    /// The calls that follow the installed apps.
    private var followers: [ObjectIdentifier: DesktopCall] = [:]
    /// Starts that wait until the folders have been read.
    private var waiting: [Start] = []
    private var locks: [ObjectIdentifier: SleepInhibition] = [:]

    /// - Parameters:
    ///   - environment: The environment of this process.
    ///   - socket: The daemon's socket for apps; nil if it is in the default place.
    ///   - userID: The user whose sessions are followed.
    package init(loop: EventLoop, log: Logger, environment: [String: String], socket: String?, userID: UInt32) {
        self.loop = loop
        self.log = log
        self.environment = environment
        launcher = AppLauncher(
            loop: loop, log: log.named("launch"),
            settings: AppLauncher.Settings(environment: environment, socket: socket))
        components = ComponentSearch(
            loop: loop, environment: AppLauncher.Settings(environment: environment, socket: nil).environment)
        desk = NotificationRelay(loop: loop)
        sessions = StateRelay { LoginSessions(loop: loop, userID: userID, onChange: $0) }
        sleep = SleepRelay(loop: loop)
        let launcher = launcher
        tray = TrayRelay(loop: loop, log: log.named("tray"), environment: environment) {
            launcher.openSettings($0, token: $1)
        }
        power = StateRelay { PowerSupply(loop: loop, onChange: $0) }
        worker = try? Worker(name: "bus")
        folders = HandlerFolders(
            loop: loop, log: log.named("handlers"), places: HandlerPaths(environment: environment),
            service: self)
    }

    /// Starts reading the installed apps.
    package func start() {
        folders?.start()
    }

    /// Ends all subscriptions.
    func stop() {
        folders?.stop()
        desk.stop()
        sessions.stop()
        sleep.stop()
        power.stop()
        tray.stop()
        components.stop()
        locks = [:]
    }

    /// Serves a call. `more` must be set if and only if the method is a stream.
    package func serve(_ call: DesktopCall) {
        guard let method = DesktopMethod(rawValue: call.call.method) else {
            return call.fail(VarlinkService.methodNotFound)
        }
        let fields = Fields(call.call.parameters)
        do throws(VarlinkError) {
            switch method {
            case .followApps: followApps(call)
            case .startApp: try startApp(fields, call)
            case .openPage: try openPage(fields, call)
            case .openFile: try openFile(fields, call)
            case .saveItems:
                let request = try SaveItemsRequest(json: call.call.parameters)
                if admitStart(call) { launcher.save(request) { Self.answer(call, $0) } }
            case .followSessions: sessions.follow(call)
            case .followNotifications: desk.follow(call)
            case .getNotificationServer: desk.replyCapabilities(call, canSave: launcher.hasSettings)
            case .showNotification: try show(fields, call)
            case .closeNotification: desk.withdraw(try fields.value("id"), call)
            case .keepAwake: keepAwake(call)
            case .followSleep: sleep.follow(call)
            case .followPower: power.follow(call)
            case .getMachine: replyMachine(call)
            case .getNetworkNames: replyNetworkNames(call)
            case .followTray: tray.follow(call)
            case .showTray: try showTray(call)
            case .findComponent: try findComponent(fields, call)
            case .findDocuments: try findDocuments(fields, call)
            }
        } catch {
            guard case .invalidParameter(let path) = error else { return call.fail(VarlinkService.invalidParameter) }
            call.fail(VarlinkService.invalidParameter, ["parameter": .string(path)])
        }
    }

    // MARK: - Apps

    private func followApps(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        if let folders, folders.isRead { send(folders, to: call) }
    }

    /// Handles the first reading of, or a change in, the installed apps.
    func appsChanged() {
        guard let folders else { return }
        for call in followers.values { send(folders, to: call) }
        let ready = waiting
        waiting = []
        for start in ready { launch(start) }
    }

    private func send(_ folders: HandlerFolders, to call: DesktopCall) {
        call.replyContinuing(InstalledApps(registry: folders.registry, problems: folders.problems).json)
    }

    private func startApp(_ fields: Fields, _ call: DesktopCall) throws(VarlinkError) {
        guard let app = AppID(try fields.text("app")) else { throw fields.invalid("app") }
        let type: ActivityType = try fields.value("type")
        let token = try Self.token(fields)
        guard admitStart(call) else { return }
        let start = Start(app: app, type: type, token: token, call: call)
        if folders?.isRead ?? true { launch(start) } else { waiting.append(start) }
    }

    private func launch(_ start: Start) {
        guard let handler = folders?.registry.handler(start.app) else {
            return start.call.fail(.notStarted, "the app \(start.app) is no longer installed")
        }
        launcher.launch(handler, for: start.type, token: start.token) { Self.answer(start.call, $0) }
    }

    private func openPage(_ fields: Fields, _ call: DesktopCall) throws(VarlinkError) {
        guard let page = WebPage(try fields.text("url")) else { throw fields.invalid("url") }
        let token = try Self.token(fields)
        guard admitStart(call) else { return }
        launcher.open(page, token: token) { Self.answer(call, $0) }
    }

    private func openFile(_ fields: Fields, _ call: DesktopCall) throws(VarlinkError) {
        guard let file = ReceivedFile(try fields.text("path")) else { throw fields.invalid("path") }
        let shows: Bool = try fields.value("shows")
        let token = try Self.token(fields)
        guard admitStart(call) else { return }
        launcher.open(file, shows: shows, token: token) { Self.answer(call, $0) }
    }

    private static func token(_ fields: Fields) throws(VarlinkError) -> ActivationToken? {
        guard let text = try fields.optionalText("token") else { return nil }
        guard let token = ActivationToken(text) else { throw fields.invalid("token") }
        return token
    }

    private func admitStart(_ call: DesktopCall) -> Bool {
        guard starts.admit(at: loop.now) else {
            refuse(call, "starts", "too many programs were started in a short time")
            return false
        }
        return true
    }

    private func refuse(_ call: DesktopCall, _ limit: String, _ message: String) {
        log.notice("Refused a call", ["limit": limit])
        call.fail(DesktopErrorName.limitExceeded.rawValue, ["limit": .string(limit), "message": .string(message)])
    }

    private static func answer(_ call: DesktopCall, _ result: Result<Void, StartFailure>) {
        switch result {
        case .success: call.reply()
        case .failure(let failure): call.fail(.notStarted, failure.message)
        }
    }

    // MARK: - What this device lacks

    private func findComponent(_ fields: Fields, _ call: DesktopCall) throws(VarlinkError) {
        let ids: [ComponentID] = try fields.value("ids")
        guard ids.count <= ComponentID.maxCandidates else { throw fields.invalid("ids") }
        guard admitSearch(call) else { return }
        components.find(ids[...]) { call.reply(["id": $0?.json ?? .null]) }
    }

    private func findDocuments(_ fields: Fields, _ call: DesktopCall) throws(VarlinkError) {
        let texts: [String] = try fields.value("urls")
        guard texts.count <= Self.maxDocuments else { throw fields.invalid("urls") }
        guard admitSearch(call) else { return }
        guard let documents else { return call.reply(["missing": .array([])]) }
        documents.run(
            { [environment] in
                DocumentsFile.read(environment: environment).roots.missing(for: texts.compactMap { DocumentURL($0) })
            }, on: loop
        ) { result in
            let missing = ((try? result.get()) ?? []).compactMap { ControlMissing($0) }
            call.reply(["missing": .array(missing.map { ["kind": .string($0.kind.text), "name": .string($0.name)] })])
        }
    }

    private func admitSearch(_ call: DesktopCall) -> Bool {
        guard searches.admit(at: loop.now) else {
            refuse(call, "searches", "too many searches were made in a short time")
            return false
        }
        return true
    }

    // MARK: - The screen and the machine

    private func show(_ fields: Fields, _ call: DesktopCall) throws(VarlinkError) {
        let notification: DesktopNotification = try fields.message("notification")
        let former: UInt32 = try fields.value("replaces")
        guard notes.admit(at: loop.now) else {
            return refuse(call, "notifications", "too many notifications were shown in a short time")
        }
        desk.show(notification, replacing: former, call)
    }

    private func showTray(_ call: DesktopCall) throws(VarlinkError) {
        let content = try TrayContent(json: call.call.parameters)
        guard menus.admit(at: loop.now) else {
            return refuse(call, "menus", "the menu in the tray was changed too often in a short time")
        }
        tray.show(content)
        call.reply()
    }

    private func keepAwake(_ call: DesktopCall) {
        guard let worker, locks.count < Self.maxLocks else {
            return refuse(call, "locks", "too many connections already keep the machine awake")
        }
        worker.run({ try SleepInhibition(who: "Handoff", why: "A transfer is running") }, on: loop) {
            [weak self] result in
            // If the client has disconnected, the lock is released with the result.
            guard let self, call.isOpen else { return }
            switch result {
            case .success(let lock):
                let key = ObjectIdentifier(call)
                locks[key] = lock
                call.onClosed = { [weak self] in self?.locks[key] = nil }
                call.replyContinuing()
            case .failure(let error): call.fail(.notKeptAwake, "\(error)")
            }
        }
    }

    private func replyNetworkNames(_ call: DesktopCall) {
        guard let worker else { return call.reply(NetworkNames(networks: []).json) }
        worker.run({ NetworkConnections.names() }, on: loop) { result in
            call.reply(((try? result.get()) ?? NetworkNames(networks: [])).json)
        }
    }

    private func replyMachine(_ call: DesktopCall) {
        guard let worker else { return call.reply(["chassis": .null]) }
        worker.run({ Chassis.name() }, on: loop) { result in
            let chassis = (try? result.get()) ?? nil
            call.reply(["chassis": chassis.map { .string($0) } ?? .null])
        }
    }
}

extension ControlMissing {
    /// Nil for a document that only its device has.
    init?(_ missing: SharedRoots.Missing) {
        switch missing {
        case .noRoot(let name), .rootUnavailable(let name, _): self.init(.folder, name: name)
        case .noCheckout(let identity): self.init(.checkout, name: identity.text)
        case .outsideRoot, .nowhere: return nil
        }
    }
}
