import HandoffControl
package import HandoffDesktop
package import HandoffHandlers
import HandoffJSON
package import HandoffLog
package import HandoffModel

/// Who is told of the apps that are installed here. On the daemon's loop.
package protocol DesktopAppsDelegate: AnyObject {
    /// There were new claims: stores them.
    func store(_ claims: ClaimHistory)
    /// What would open something here may have changed.
    func installedAppsChanged()
}

/// The apps that are installed here, as the desktop tells them, and their start. Lives on the daemon's loop.
package final class DesktopApps {
    private let log: Logger
    private let desktop: DesktopLink?
    private weak var delegate: (any DesktopAppsDelegate)?
    private var following: DesktopLink.Following?
    private var apps = InstalledApps()

    /// - Parameters:
    ///   - desktop: nil where there is none: then apps are those that attach.
    ///   - history: which app claimed what first, as it is stored.
    package init(
        log: Logger, desktop: DesktopLink?, history: ClaimHistory, delegate: any DesktopAppsDelegate
    ) {
        self.log = log
        self.desktop = desktop
        self.delegate = delegate
        apps.registry.history = history
    }

    /// What is installed, with those that the user has switched off.
    package var registry: HandlerRegistry { apps.registry }
    /// Files that cannot be used, each with what is wrong.
    package var problems: Set<String> { apps.problems }

    /// Begins to follow what is installed.
    package func start() {
        following = desktop?.follow(.followApps) { [weak self] in self?.told($0) }
    }

    /// Ends it.
    package func stop() {
        following = nil
    }

    /// Takes which apps the user has switched off.
    package func setDisabled(_ disabled: Set<AppID>) {
        apps.registry.disabled = disabled
    }

    private func told(_ news: DesktopLink.News) {
        // What was known of files holds on: they do not go with who has read them.
        guard case .reply(let fields) = news else { return }
        do throws(VarlinkError) {
            var next = try InstalledApps(json: fields)
            next.registry.disabled = apps.registry.disabled
            next.registry.history = apps.registry.history
            if next.registry.history.take(next.registry.handlers) {
                delegate?.store(next.registry.history)
            }
            let isNews = next.registry != apps.registry
            apps = next
            if isNews { delegate?.installedAppsChanged() }
        } catch {
            log.error("Cannot read what is installed", ["error": "\(error)"])
        }
    }

    // MARK: - Starting

    /// Starts an app.
    ///
    /// - Parameters:
    ///   - type: what it is to continue.
    ///   - token: lets the app come to the front.
    ///   - completion: called once: when the launcher has done its work, or is still at it after three seconds.
    package func launch(
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
    ///   - token: lets the browser come to the front.
    ///   - completion: called once: when the opener has done its work, or is still at it after three seconds.
    package func open(
        _ page: WebPage, token: ActivationToken? = nil, completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        var parameters: JSONObject = ["url": .string(page.argument)]
        if let token { parameters["token"] = .string(token.text) }
        call(.openPage, parameters, completion)
    }

    /// Opens a file or folder with the program that the user has for it, or shows it in its folder.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - token: lets the program come to the front.
    ///   - completion: called once: when the opener has done its work, or is still at it after three seconds.
    package func openFile(
        _ path: String, shows: Bool, token: ActivationToken?, completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        var parameters: JSONObject = ["path": .string(path), "shows": .bool(shows)]
        if let token { parameters["token"] = .string(token.text) }
        call(.openFile, parameters, completion)
    }

    private func call(
        _ method: DesktopMethod, _ parameters: JSONObject, _ completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard let desktop else {
            return completion(.failure(StartFailure(message: "nothing is started on this device: it has no desktop")))
        }
        desktop.call(method, parameters) { result in
            completion(result.map { _ in () }.mapError { StartFailure(message: $0.message) })
        }
    }
}
