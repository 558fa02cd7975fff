import DesktopBus
import HandoffHandlers
import LoopIO

/// Connects the daemon to the tray of the desktop. The icon exists while it is followed. Use on the
/// loop's thread.
final class TrayRelay {
    private let loop: EventLoop
    private let log: Logger
    private let programs: ProgramSearch
    private let dataFolders: [String]
    private let openSettings: ([String], ActivationToken?) -> Void
    private var item: TrayItem?
    private var isShown = false
    private var followers: [ObjectIdentifier: DesktopCall] = [:]

    /// - Parameter openSettings: Opens the window with the settings, with these arguments.
    init(
        loop: EventLoop, log: Logger, environment: [String: String],
        openSettings: @escaping ([String], ActivationToken?) -> Void
    ) {
        self.loop = loop
        self.log = log
        self.openSettings = openSettings
        programs = ProgramSearch(path: environment["PATH"])
        dataFolders = DataFolders.list(environment: environment)
    }

    /// Replies with each event of the tray from now on.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.closed(key) }
        if isShown { call.replyContinuing(TrayEvent.appeared.json) }
        guard item == nil else { return }
        let folders = dataFolders.map { $0 + "/icons/hicolor/symbolic/apps/" }
        let hasIcon = TrayItem.icons.allSatisfy { icon in
            folders.contains { PlainFile.version(at: $0 + icon + ".svg") != nil }
        }
        item = TrayItem(loop: loop, log: log, hasIcon: hasIcon, hasSettings: hasSettings) { [weak self] event in
            self?.handle(event)
        }
    }

    /// Sets the content of the menu.
    func show(_ content: TrayContent) {
        item?.show(content, hasSettings: hasSettings)
    }

    /// Removes the icon.
    func stop() {
        item?.stop()
        item = nil
        isShown = false
    }

    private var hasSettings: Bool { programs.find(AppLauncher.settingsProgram) != nil }

    private func closed(_ key: ObjectIdentifier) {
        followers[key] = nil
        if followers.isEmpty { stop() }
    }

    private func handle(_ event: TrayItem.Event) {
        switch event {
        case .appeared:
            isShown = true
            relay(.appeared)
        case .gone:
            isShown = false
            relay(.gone)
        case .chosen(.offer(let offer), let token): relay(.chosen(offer.device, offer.activity, token: token))
        case .chosen(.pause(let isPaused), _): relay(.paused(isPaused))
        case .chosen(.send, let token): openSettings(["--send"], token)
        case .chosen(.settings, let token): openSettings([], token)
        case .chosen(.none, _): break
        }
    }

    private func relay(_ event: TrayEvent) {
        for call in followers.values { call.replyContinuing(event.json) }
    }
}
