import HandoffControl
import HandoffModel
import LoopIO

// Checks of the path of an offer from another device, from the account to the app that opens it.
extension Doctor {
    /// Checks the path from a device, in the order in which an offer takes it.
    /// - Parameters:
    ///   - activity: the activity to check; nil for all offers of the device.
    ///   - apps: the apps here; nil if the daemon does not report them.
    ///   - diagnosis: facts that only the daemon knows; nil if it does not report them.
    static func path(
        from device: ControlDevice, activity: OfferedActivity? = nil, offers: [OfferedActivity],
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
                "device", .problem, "\(name) was admitted, but has not confirmed that it stored the account",
                remedy: "run handoffctl join there again, or remove it: handoffctl device remove \(device.id.short)")
        }
        guard device.current else {
            return DoctorCheck(
                "device", .problem, "\(name) is in the account, but does not have the latest key",
                remedy: "connect it to the network of another member, which will send it the key")
        }
        return DoctorCheck("device", .ok, "\(name) is in the account and has its key")
    }

    private static func reach(_ device: ControlDevice, _ name: String, _ diagnosis: ControlDiagnosis?) -> DoctorCheck {
        if let since = device.asleepSince {
            let moment = LocalTime.short(since, now: Double(SystemWallClock().unixSeconds))
            return DoctorCheck("network", .problem, "\(name) has been asleep since \(moment)", remedy: "wake it")
        }
        let known = diagnosis?.members.first { $0.device == device.id }
        let check = member(
            known
                ?? ControlDiagnosis.Member(
                    device: device.id, name: device.name, online: device.online, heard: device.heard))
        // The device is the subject here, so a warning about it is a problem.
        return DoctorCheck(
            "network", check.state == .ok ? .ok : .problem, check.message, remedy: check.remedy)
    }

    private static func receiving(from device: ControlDevice, _ name: String, _ status: ControlStatus) -> [DoctorCheck]
    {
        let restrictions = status.holds.filter { $0.direction == .receive && ($0.device ?? device.id) == device.id }
        if restrictions.isEmpty { return [DoctorCheck("switches", .ok, "offers from \(name) can be received")] }
        return restrictions.map { restriction in
            let until = restriction.until.map { " until \(LocalTime.text($0))" } ?? ""
            return DoctorCheck("switches", .problem, restriction.message + until, remedy: restriction.remedy)
        }
    }

    private static func offers(
        _ offers: [OfferedActivity], of device: DeviceID, _ name: String, _ apps: [ControlApp]?,
        _ diagnosis: ControlDiagnosis?
    ) -> [DoctorCheck] {
        let own = offers.filter { $0.device == device }
        guard !own.isEmpty else {
            return [
                DoctorCheck(
                    "offers", .warning, "\(name) offers nothing here",
                    remedy: "run handoffctl list --mine there: it shows its activities, and why others do not see them")
            ]
        }
        return own.flatMap { offer($0) + [notice(of: $0, among: offers, apps, diagnosis)].compactMap(\.self) }
    }

    private static func offer(_ activity: OfferedActivity) -> [DoctorCheck] {
        let title = Describe.title(activity.title, type: activity.type)
        let since = RelativeAge.text(seconds: activity.age)
        let state =
            activity.kept.map { "kept: \(Describe.keptAsOf(activity, $0))" }
            ?? "\(activity.sent ? "sent to this device" : "offered"), \(since)"
        let offered = DoctorCheck("offer", .ok, "\(title) (\(activity.id.short)) is \(state)")
        let lacking = (activity.missing ?? []).map(\.phrase).joined(separator: ", ")
        let opens = Describe.opensPhrase(activity.opens) + (lacking.isEmpty ? "" : "; not on this device: \(lacking)")
        guard activity.opens.kind == .nothing else { return [offered, DoctorCheck("app", .ok, opens)] }
        let step =
            activity.streams
            ? "receive it with: handoffctl continue --output FOLDER \(activity.id.short)"
            : "list the apps with: handoffctl apps; without an app: handoffctl continue --print \(activity.id.short)"
        let remedy = ((activity.missing ?? []).compactMap(\.remedy) + [step]).joined(separator: "; ")
        return [offered, DoctorCheck("app", .problem, opens, remedy: remedy)]
    }
}
