import HandoffControl
import HandoffHandlers
import HandoffModel
import LoopIO

/// The icon in the tray, through the desktop service. Lives on the daemon's loop.
///
/// While a panel shows it, the content is compared after each possible change, and sent if it
/// differs: once per second at most, and one call after the other, because each uses its own
/// connection.
final class DesktopTray {
    /// The content, and the offers behind it.
    struct State {
        let content: TrayContent
        let offers: [NotificationOffer]
    }

    /// The time between two changes.
    private static let interval = Duration.seconds(1)

    private let loop: EventLoop
    private let desktop: DesktopLink?
    /// Weak because an event can arrive during shutdown.
    private weak var service: ControlService?
    private var following: DesktopLink.Following?
    private var timer: LoopTimer?
    private var isShown = false
    /// True from a call until the time for the next one.
    private var isBusy = false
    private var isOutdated = false
    /// The latest state that was sent; nil if the desktop service has none.
    private var sent: State?

    /// - Parameter desktop: Nil if there is no screen.
    init(loop: EventLoop, desktop: DesktopLink?, service: ControlService) {
        self.loop = loop
        self.desktop = desktop
        self.service = service
    }

    /// Shows or removes the icon.
    func setOn(_ isOn: Bool) {
        guard isOn != (following != nil) else { return }
        following = isOn ? desktop?.follow(.followTray) { [weak self] in self?.received($0) } : nil
        if !isOn { lost() }
    }

    /// Handles a possible change of the content.
    func review() {
        guard isShown, let service else { return }
        guard !isBusy else {
            isOutdated = true
            return
        }
        let state = service.trayState()
        guard state.content != sent?.content else { return }
        sent = state
        isBusy = true
        desktop?.call(.showTray, state.content.json) { [weak self] result in
            guard let self else { return }
            if case .failure = result { sent = nil }
            timer = loop.timer(after: Self.interval, accuracy: .milliseconds(100)) { [weak self] in
                guard let self else { return }
                isBusy = false
                if isOutdated { review() }
                isOutdated = false
            }
        }
    }

    private func lost() {
        isShown = false
        sent = nil
    }

    private func received(_ update: DesktopLink.News) {
        guard case .reply(let fields) = update, let event = try? TrayEvent(json: fields) else {
            if case .reply = update { return }
            return lost()
        }
        switch event {
        case .appeared:
            isShown = true
            review()
        case .gone: isShown = false
        case .paused(let isPaused): service?.setPaused(isPaused)
        case .chosen(let device, let activity, let token):
            guard let offer = sent?.offers.first(where: { $0.device == device && $0.activity == activity }) else {
                return
            }
            service?.core.notifications.choose(offer, token: token)
        }
    }
}
