import HandoffControl
import HandoffModel

// Why an offer of another device is not shown as a notification.
extension Doctor {
    /// The name of these checks.
    private static let notices = "notices"

    /// Whether offers are shown as notifications, and what keeps some of them from it.
    static func notices(_ facts: DoctorFacts) -> [DoctorCheck] {
        guard let notifications = facts.diagnosis?.notifications else { return [] }
        if let check = silence(notifications.state) { return [check] }
        var checks = (facts.apps ?? []).filter { !$0.notified }.map { muted($0.id) }
        let dismissed = notifications.offers.filter { $0.outcome == .dismissed }.map(\.activity.short)
        if let first = dismissed.first {
            let words = dismissed.count == 1 ? "one offer was dismissed" : "\(dismissed.count) offers were dismissed"
            checks.append(
                DoctorCheck(
                    notices, .warning, "\(words), and no notification is shown of it again",
                    remedy: "handoffctl continue \(first); handoffctl list shows all offers"))
        }
        guard checks.isEmpty else { return checks }
        let words = notifications.state == .unknown ? "; no notification server was needed yet" : ""
        return [DoctorCheck(notices, .ok, "offers are shown as notifications\(words)")]
    }

    /// Whether an offer that opens here is shown as a notification; nil where the daemon does not tell.
    /// - Parameters:
    ///   - offers: all that is offered here, most recent first.
    ///   - apps: the apps here; nil when the daemon does not tell.
    static func notice(
        of activity: ControlActivity, among offers: [ControlActivity], _ apps: [ControlApp]?,
        _ diagnosis: ControlDiagnosis?
    ) -> DoctorCheck? {
        guard let notifications = diagnosis?.notifications, activity.opens.kind != .nothing else { return nil }
        if let check = silence(notifications.state) { return check }
        let mutedApps = Set((apps ?? []).filter { !$0.notified }.map(\.id))
        if let app = activity.opens.app, mutedApps.contains(app) { return muted(app) }
        let remedy = "handoffctl continue \(activity.id.short)"
        let offer = notifications.offers.first { $0.device == activity.device && $0.activity == activity.id }
        switch offer?.outcome {
        case .shown: return DoctorCheck(notices, .ok, "its notification is on the screen")
        case .accepted: return DoctorCheck(notices, .ok, "no notification is shown: it was continued here already")
        case .dismissed:
            return DoctorCheck(
                notices, .warning, "its notification was dismissed, and is not shown again", remedy: remedy)
        case .expired:
            return DoctorCheck(
                notices, .warning, "its notification was shown, and left the screen by itself", remedy: remedy)
        case nil: break
        }
        let newest = offers.first { offer in
            offer.device == activity.device && offer.opens.kind != .nothing
                && !(offer.opens.app.map(mutedApps.contains) ?? false)
        }
        guard let newest, newest.id != activity.id else {
            return DoctorCheck(notices, .ok, "its notification is shown next")
        }
        return DoctorCheck(
            notices, .warning, "no notification is shown: the device offers something newer (\(newest.id.short))",
            remedy: remedy)
    }

    private static func muted(_ app: String) -> DoctorCheck {
        DoctorCheck(
            notices, .warning, "no notification is shown of what \(app) opens: it is muted",
            remedy: "handoffctl app unmute \(app)")
    }

    /// What keeps all notifications off the screen; nil for nothing.
    private static func silence(_ state: ControlNotifications.State) -> DoctorCheck? {
        switch state {
        case .on, .unknown: nil
        case .off:
            DoctorCheck(
                notices, .warning, "no notification is shown: handoffd.conf has 'notifications = off'",
                remedy: "remove that line, then: systemctl --user reload handoffd")
        case .away:
            DoctorCheck(
                notices, .warning, "no notification is shown: no session of yours is in use, or its screen is locked",
                remedy: "log in to a desktop, or unlock the screen")
        case .unavailable:
            DoctorCheck(
                notices, .warning, "no notification is shown: no notification server answers",
                remedy: "start one in your session, such as dunst; desktops have one of their own")
        }
    }
}
