import HandoffControl
import HandoffModel

// Checks of the notifications for offers.
extension Doctor {
    /// The name of these checks.
    private static let notices = "notices"

    /// Checks whether offers are shown as notifications, and which are not.
    static func notices(_ facts: DoctorFacts) -> [DoctorCheck] {
        guard let notifications = facts.diagnosis?.notifications else { return [] }
        if let check = suppression(notifications.state.known) { return [check] }
        var checks = (facts.apps ?? []).filter { !$0.notified }.map { muted($0.id) }
        let dismissed = notifications.offers.filter { $0.outcome == .dismissed }.map(\.activity.short)
        if let first = dismissed.first {
            let words = dismissed.count == 1 ? "one offer was dismissed" : "\(dismissed.count) offers were dismissed"
            checks.append(
                DoctorCheck(
                    notices, .warning, "\(words) and will not be shown as notifications again",
                    remedy: "handoffctl continue \(first); handoffctl list shows all offers"))
        }
        guard checks.isEmpty else { return checks }
        let words = notifications.state == .unknown ? "; no notification server has been needed yet" : ""
        return [DoctorCheck(notices, .ok, "offers are shown as notifications\(words)")]
    }

    /// Checks whether an offer that opens here is shown as a notification; nil if the daemon does
    /// not report it.
    /// - Parameters:
    ///   - offers: all offers here, most recent first.
    ///   - apps: the apps here; nil if the daemon does not report them.
    static func notice(
        of activity: OfferedActivity, among offers: [OfferedActivity], _ apps: [ControlApp]?,
        _ diagnosis: ControlDiagnosis?
    ) -> DoctorCheck? {
        guard let notifications = diagnosis?.notifications, activity.opens.kind != .nothing else { return nil }
        if let check = suppression(notifications.state.known) { return check }
        if activity.kept?.state == .ended {
            return DoctorCheck(notices, .ok, "no notification is shown: the activity was closed there")
        }
        let mutedApps = Set((apps ?? []).filter { !$0.notified }.map(\.id))
        if let app = activity.opens.app, mutedApps.contains(app) { return muted(app) }
        let remedy = "handoffctl continue \(activity.id.short)"
        let offer = notifications.offers.first { $0.device == activity.device && $0.activity == activity.id }
        switch offer?.outcome.known {
        case .shown: return DoctorCheck(notices, .ok, "its notification is shown")
        case .accepted: return DoctorCheck(notices, .ok, "no notification is shown: it was already continued here")
        case .dismissed:
            return DoctorCheck(
                notices, .warning, "its notification was dismissed, and is not shown again", remedy: remedy)
        case .expired:
            return DoctorCheck(
                notices, .warning, "its notification was shown and has expired", remedy: remedy)
        case nil: break
        }
        let newest = offers.first { offer in
            offer.device == activity.device && offer.opens.kind != .nothing && offer.kept?.state != .ended
                && !(offer.opens.app.map(mutedApps.contains) ?? false)
        }
        guard let newest, newest.id != activity.id else {
            return DoctorCheck(notices, .ok, "its notification is shown next")
        }
        return DoctorCheck(
            notices, .warning, "no notification is shown: the device has a newer offer (\(newest.id.short))",
            remedy: remedy)
    }

    private static func muted(_ app: String) -> DoctorCheck {
        DoctorCheck(
            notices, .warning, "no notification is shown for offers that \(app) opens: the app is muted",
            remedy: "handoffctl app unmute \(app)")
    }

    /// Returns the reason why no notifications are shown at all, if any.
    private static func suppression(_ state: ControlNotifications.State?) -> DoctorCheck? {
        switch state {
        case .on, .unknown, nil: nil
        case .off:
            DoctorCheck(
                notices, .warning, "no notification is shown: handoffd.conf has 'notifications = off'",
                remedy: "remove that line, then: systemctl --user reload handoffd")
        case .away:
            DoctorCheck(
                notices, .warning, "no notification is shown: you have no active session, or its screen is locked",
                remedy: "log in to a desktop, or unlock the screen")
        case .unavailable:
            DoctorCheck(
                notices, .warning, "no notification is shown: no notification server responds",
                remedy: "start one in your session, such as dunst; desktop environments include one")
        }
    }
}
