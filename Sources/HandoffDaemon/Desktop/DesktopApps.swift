import HandoffControl
import HandoffDocuments
import HandoffHandlers
import HandoffJSON
import HandoffModel
import LoopIO

/// The installed apps, as reported by the desktop service, and their start. Lives on the daemon's
/// loop.
final class DesktopApps {
    /// The maximum number of documents to search for, and the time for that. A disk may be slow.
    private static let maxDocuments = 64
    private static let searchTimeout = Duration.seconds(2)

    private let log: Logger
    private let desktop: DesktopLink?
    /// Weak because an update can arrive during shutdown.
    private weak var core: DaemonCore?
    private var following: DesktopLink.Following?
    private var apps = InstalledApps()

    /// - Parameters:
    ///   - desktop: Nil if there is no desktop. Then only apps that attach are known.
    ///   - history: The stored history of which app first claimed a type or site.
    init(log: Logger, desktop: DesktopLink?, history: ClaimHistory, core: DaemonCore) {
        self.log = log
        self.desktop = desktop
        self.core = core
        apps.registry.history = history
    }

    /// The installed apps, including those that the user has disabled.
    var registry: HandlerRegistry { apps.registry }
    /// Unusable files, each with its error.
    var problems: Set<String> { apps.problems }

    /// Starts following the installed apps.
    func start() {
        following = desktop?.follow(.followApps) { [weak self] in self?.received($0) }
    }

    /// Stops following.
    func stop() {
        following = nil
    }

    /// Sets the apps that the user has disabled.
    func setDisabled(_ disabled: Set<AppID>) {
        apps.registry.disabled = disabled
    }

    private func received(_ update: DesktopLink.News) {
        // A lost connection does not change the installed apps.
        guard case .reply(let fields) = update else { return }
        do throws(VarlinkError) {
            var next = try InstalledApps(json: fields)
            next.registry.disabled = apps.registry.disabled
            next.registry.history = apps.registry.history
            if next.registry.history.take(next.registry.handlers) {
                core?.store(next.registry.history)
            }
            let isChanged = next.registry != apps.registry
            apps = next
            if isChanged { core?.installedAppsChanged() }
        } catch {
            log.error("Cannot read the installed apps", ["error": "\(error)"])
        }
    }

    // MARK: - Starting

    /// Starts an app.
    ///
    /// - Parameters:
    ///   - type: The activity type to continue.
    ///   - token: The activation token that lets the app come to the front.
    ///   - completion: Called once, when the launcher has ended or is still running after three
    ///     seconds.
    func launch(
        _ handler: Handler, for type: ActivityType, token: ActivationToken? = nil,
        completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        log.notice("Starting an app", ["app": handler.id.text])
        var parameters: JSONObject = ["app": .string(handler.id.text), "type": .string(type.text)]
        if let token { parameters["token"] = .string(token.text) }
        call(.startApp, parameters, completion)
    }

    /// Opens a page in the user's browser.
    ///
    /// - Parameters:
    ///   - token: The activation token that lets the browser come to the front.
    ///   - completion: Called once, when the opener has ended or is still running after three
    ///     seconds.
    func open(
        _ page: WebPage, token: ActivationToken? = nil, completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        var parameters: JSONObject = ["url": .string(page.argument)]
        if let token { parameters["token"] = .string(token.text) }
        call(.openPage, parameters, completion)
    }

    /// Opens a file or folder with the user's program for it, or shows it in its folder.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - token: The activation token that lets the program come to the front.
    ///   - completion: Called once, when the opener has ended or is still running after three
    ///     seconds.
    func openFile(
        _ path: String, shows: Bool, token: ActivationToken?, completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        var parameters: JSONObject = ["path": .string(path), "shows": .bool(shows)]
        if let token { parameters["token"] = .string(token.text) }
        call(.openFile, parameters, completion)
    }

    /// Finds the shared folders and checkouts of an activity's documents that this device lacks.
    ///
    /// - Parameter completion: Called once: immediately if the activity has no documents, otherwise
    ///   when they are known, or after two seconds without a result.
    func findMissing(for content: ActivityContent, completion: @escaping ([ControlMissing]) -> Void) {
        let urls = content.documents(limit: Self.maxDocuments)
        guard !urls.isEmpty, let desktop else { return completion([]) }
        var completion: (([ControlMissing]) -> Void)? = completion
        var timer: LoopTimer?
        func finish(_ missing: [ControlMissing]) {
            let call = completion
            completion = nil
            timer?.cancel()
            timer = nil
            call?(missing)
        }
        timer = desktop.loop.timer(after: Self.searchTimeout) { finish([]) }
        desktop.call(.findDocuments, ["urls": .array(urls.map(JSON.string))]) { result in
            let fields = (try? result.get()).map { Fields($0) }
            finish((try? fields?.value("missing", as: [ControlMissing].self)) ?? [])
        }
    }

    /// Opens the window that saves items in a folder of the user's choice.
    func save(_ request: SaveItemsRequest, completion: @escaping (Result<Void, StartFailure>) -> Void) {
        call(.saveItems, request.json, completion)
    }

    private func call(
        _ method: DesktopMethod, _ parameters: JSONObject, _ completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard let desktop else {
            return completion(.failure(StartFailure(message: "this device has no desktop to start apps on")))
        }
        desktop.call(method, parameters) { result in
            completion(result.map { _ in () }.mapError { StartFailure(message: $0.message) })
        }
    }
}
