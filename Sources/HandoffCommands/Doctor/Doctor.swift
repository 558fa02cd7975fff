import HandoffControl
import HandoffModel
import LoopIO

/// Decides what stops a handoff, and what to do about it. Pure functions of what was found out.
package enum Doctor {
    /// How long the daemon may take to answer all questions.
    static let patience = Duration.seconds(10)

    /// All checks in the order in which they are shown.
    package static func checks(_ facts: DoctorFacts) -> [DoctorCheck] {
        var checks = [daemon(facts)]
        guard let status = facts.status else {
            // What keeps it from running may be the machine.
            return checks + [clock(facts), sandbox(facts)]
        }
        checks.append(account(status))
        checks += switches(status.switches)
        checks.append(discovery(status, facts.machine))
        checks += listening(status, facts.machine)
        checks.append(firewall(status, facts.machine))
        checks.append(clock(facts))
        checks += apps(facts)
        checks.append(sandbox(facts))
        checks += limits(facts.diagnosis)
        checks += members(status, facts.diagnosis)
        if let check = stateFolder(facts.diagnosis) { checks.append(check) }
        checks += status.warnings.map {
            DoctorCheck("warning", .warning, $0, remedy: "see the daemon's log: journalctl --user -u handoffd")
        }
        return checks
    }

    private static func daemon(_ facts: DoctorFacts) -> DoctorCheck {
        guard let status = facts.status else {
            return DoctorCheck(
                "daemon", .problem, facts.unreachable ?? "the daemon cannot be asked",
                remedy: "systemctl --user start handoffd; where that fails, its log says why: "
                    + "journalctl --user -u handoffd")
        }
        switch facts.interruption {
        case .silence?:
            return DoctorCheck(
                "daemon", .problem,
                "the daemon did not answer all questions within \(patience.components.seconds) s: a disk may hang",
                remedy: "see whether the disk of its state folder is well; its log: journalctl --user -u handoffd")
        case .failure(let why)?:
            return DoctorCheck(
                "daemon", .problem, "the daemon said its status, and did not answer all other questions: \(why)",
                remedy: "see in its log whether it failed: journalctl --user -u handoffd; "
                    + "then: systemctl --user restart handoffd")
        case nil: break
        }
        let own = "handoffd/\(ProgramVersion.number)"
        guard status.daemon == own else {
            return DoctorCheck(
                "daemon", .warning,
                "the daemon is of another version than this program: \(status.daemon), and not \(own)",
                remedy: "systemctl --user restart handoffd")
        }
        return DoctorCheck("daemon", .ok, "\(status.daemon) runs, as \(status.name)")
    }

    private static func account(_ status: ControlStatus) -> DoctorCheck {
        guard let account = status.account else {
            return DoctorCheck(
                "account", .problem, "this device is in no account",
                remedy: "handoffctl join, with the code that handoffctl pair shows on another device; on the first "
                    + "one: handoffctl account create")
        }
        return DoctorCheck("account", .ok, "this device is in account \(account.short)")
    }

    private static func switches(_ switches: ControlSwitches) -> [DoctorCheck] {
        let checks = switches.holds.map { hold in
            let until = hold.until.map { " until \(LocalTime.text($0))" } ?? ""
            let isForAll = hold.device == nil && hold.author != .session
            return DoctorCheck(
                "switches", isForAll ? .problem : .warning, hold.message + until, remedy: remedy(for: hold))
        }
        return checks.isEmpty ? [DoctorCheck("switches", .ok, "advertising and receiving are on")] : checks
    }

    private static func remedy(for hold: ControlHold) -> String {
        switch hold.author {
        case .user:
            let device = hold.device.map { " --device \($0.short)" } ?? ""
            return "handoffctl \(hold.direction.rawValue) on\(device)"
        case .configuration:
            return "take 'advertise = off' out of handoffd.conf, then: systemctl --user reload handoffd"
        case .policy: return "ask who administers this machine: it is in /etc/handoff/policy.d"
        case .session:
            return "unlock or use the screen; lock-delay and idle-delay in handoffd.conf say after what time it counts"
        }
    }

    private static func apps(_ facts: DoctorFacts) -> [DoctorCheck] {
        var checks = (facts.diagnosis?.appProblems ?? []).map {
            DoctorCheck("apps", .warning, $0, remedy: "mend the file or delete it: it is read again at once")
        }
        guard let apps = facts.apps else { return checks }
        for app in apps {
            checks += zip(ChoiceText.conflicts(app), app.yields).map {
                DoctorCheck("apps", .warning, $0, remedy: ChoiceText.remedy(app, $1))
            }
        }
        let count = apps.count { $0.enabled && !($0.types.isEmpty && $0.domains.isEmpty) }
        if count > 0 {
            let words = count == 1 ? "one app continues activities" : "\(count) apps continue activities"
            checks.append(DoctorCheck("apps", .ok, words))
        } else {
            checks.append(
                DoctorCheck(
                    "apps", .warning,
                    "no app here continues activities: only web pages are opened, and handoffctl continue --print works",
                    remedy: apps.contains { !$0.enabled }
                        ? "handoffctl apps shows what is switched off; on again with: handoffctl app enable ID"
                        : "put X-Handoff-ActivityTypes=TYPE; into the desktop entry of an app; what is known is shown by: "
                            + "handoffctl apps"))
        }
        return checks
    }
}
