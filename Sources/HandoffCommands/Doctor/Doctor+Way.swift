package import HandoffControl
import HandoffModel
import LoopIO
import Timing

// What stands between this device and what another one offers: from the account to the app that opens it.
extension Doctor {
    /// The checks of the way from a device, in the order in which an offer passes them.
    /// - Parameters:
    ///   - activity: what is asked about; nil for all that the device offers.
    ///   - apps: the apps here; nil when the daemon does not tell.
    ///   - diagnosis: what only the daemon knows; nil when it does not tell.
    package static func way(
        from device: ControlDevice, activity: ControlActivity? = nil, offers: [ControlActivity],
        apps: [ControlApp]? = nil, _ status: ControlStatus, _ diagnosis: ControlDiagnosis?
    ) -> [DoctorCheck] {
        let name = DeviceText.label(device.name, device.id)
        return [account(status), membership(of: device, name), reach(device, name, diagnosis)]
            + receiving(from: device, name, status)
            + (activity.map { offer($0) + [notice(of: $0, among: offers, apps, diagnosis)].compactMap(\.self) }
                ?? self.offers(offers, of: device.id, name, apps, diagnosis))
    }

    private static func membership(of device: ControlDevice, _ name: String) -> DoctorCheck {
        if device.unfinished {
            return DoctorCheck(
                "device", .problem, "\(name) was let in, and has not said that it stored the account",
                remedy: "run handoffctl join there again; or remove it: handoffctl device remove \(device.id.short)")
        }
        guard device.current else {
            return DoctorCheck(
                "device", .problem, "\(name) is in the account, and has not heard of the latest key",
                remedy: "it gets the key from the first member that it meets: bring it into the network of another one")
        }
        return DoctorCheck("device", .ok, "\(name) is in the account, and has its key")
    }

    private static func reach(_ device: ControlDevice, _ name: String, _ diagnosis: ControlDiagnosis?) -> DoctorCheck {
        if let since = device.asleepSince {
            let moment = LocalTime.short(since, now: Double(SystemWallClock().unixSeconds))
            return DoctorCheck("network", .problem, "\(name) is asleep since \(moment)", remedy: "wake it")
        }
        let known = diagnosis?.members.first { $0.device == device.id }
        let check = member(
            known
                ?? ControlDiagnosis.Member(
                    device: device.id, name: device.name, online: device.online, heard: device.heard))
        // Here it is the one thing that is asked about.
        return DoctorCheck(
            "network", check.state == .ok ? .ok : .problem, check.message, remedy: check.remedy)
    }

    private static func receiving(from device: ControlDevice, _ name: String, _ status: ControlStatus) -> [DoctorCheck]
    {
        let holds = status.holds.filter { $0.direction == .receive && ($0.device ?? device.id) == device.id }
        if holds.isEmpty { return [DoctorCheck("switches", .ok, "what \(name) offers may be received")] }
        return holds.map { hold in
            let until = hold.until.map { " until \(LocalTime.text($0))" } ?? ""
            return DoctorCheck("switches", .problem, hold.message + until, remedy: hold.remedy)
        }
    }

    private static func offers(
        _ offers: [ControlActivity], of device: DeviceID, _ name: String, _ apps: [ControlApp]?,
        _ diagnosis: ControlDiagnosis?
    ) -> [DoctorCheck] {
        let own = offers.filter { $0.device == device }
        guard !own.isEmpty else {
            return [
                DoctorCheck(
                    "offers", .warning, "\(name) offers nothing here",
                    remedy: "run handoffctl list --mine there: it says what is published, and why others do not see it")
            ]
        }
        return own.flatMap { offer($0) + [notice(of: $0, among: offers, apps, diagnosis)].compactMap(\.self) }
    }

    private static func offer(_ activity: ControlActivity) -> [DoctorCheck] {
        let title = Describe.title(activity.title, type: activity.type)
        let since = RelativeAge.text(seconds: activity.age)
        let offered = DoctorCheck(
            "offer", .ok,
            "\(title) (\(activity.id.short)) is \(activity.sent ? "sent to this device" : "offered"), \(since)")
        guard activity.opens.kind == .nothing else {
            return [offered, DoctorCheck("app", .ok, Describe.opensPhrase(activity.opens))]
        }
        let remedy =
            activity.streams
            ? "receive it with: handoffctl continue --output FOLDER \(activity.id.short)"
            : "see which apps continue what: handoffctl apps; without one: handoffctl continue --print \(activity.id.short)"
        return [offered, DoctorCheck("app", .problem, Describe.opensPhrase(activity.opens), remedy: remedy)]
    }
}
