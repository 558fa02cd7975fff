import HandoffControl
import HandoffHandlers
import HandoffModel
import HandoffState
import LoopIO

/// The content of the tray icon, and the user's choices in its menu.
extension ControlService {
    /// Returns the offers and recent activities that something here opens, and whether the user has
    /// paused.
    func trayState() -> DesktopTray.State {
        let offers = shownOffers().compactMap(notificationOffer).filter { $0.obstacle == nil }
        let shown = Array(offers.prefix(TrayContent.maxOffers))
        let recent = shownRecent().compactMap(notificationOffer).filter { activity in
            activity.obstacle == nil
                && !offers.contains { $0.device == activity.device && $0.activity == activity.activity }
        }.prefix(TrayContent.maxRecent)
        let content = TrayContent(
            offers: shown.map(TrayContent.Offer.init), omitted: UInt32(clamping: offers.count - shown.count),
            recent: recent.map(TrayContent.Offer.init), paused: Self.isPaused(switches.shown.holds))
        return DesktopTray.State(content: content, offers: shown + recent)
    }

    /// Returns false while a direction is on, and nil if both are off but not by the user.
    private static func isPaused(_ holds: [ControlRestriction]) -> Bool? {
        // A locked session does not change the switches.
        let authors = SwitchDirection.allCases.map { direction in
            holds.first { $0.direction == direction && $0.device == nil && $0.author != .session }?.author
        }
        if authors.contains(nil) { return false }
        // Something else may have switched the other direction off.
        return authors.contains { $0 == .user } ? true : nil
    }

    /// Pauses until the user resumes, or resumes.
    func setPaused(_ isPaused: Bool) {
        let request = SetSwitchesRequest(advertise: !isPaused, receive: !isPaused)
        switches.set(request, device: nil, live: accountStore.snapshot.live) { [core] result in
            guard case .failure(let error) = result else { return }
            core.log.error("Cannot store the switches", ["error": "\(error)"])
        }
    }
}

extension TrayContent.Offer {
    fileprivate init(_ offer: NotificationOffer) {
        self.init(
            device: offer.device, activity: offer.activity, label: offer.menuLabel, notes: offer.menuNotes,
            icon: offer.icon)
    }
}
