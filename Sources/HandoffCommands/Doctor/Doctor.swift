package import HandoffControl
package import HandoffJSON
import HandoffModel
import LoopIO

/// Decides what stops a handoff, and what to do about it. Pure functions of what was found out.
package enum Doctor {
    /// How long the daemon may take to answer all questions.
    static let timeout = Duration.seconds(10)

    /// All checks in the order in which they are shown.
    package static func checks(_ facts: DoctorFacts) -> [DoctorCheck] {
        var checks = [daemon(facts)]
        guard let status = facts.status else {
            // What keeps it from running may be the machine.
            return checks + [clock(facts), sandbox(facts)]
        }
        checks.append(account(status))
        checks += switches(status.switches)
        let network = network(facts.diagnosis)
        checks += network
        // What finds devices is well, and of no use without a network.
        let found = discovery(status, facts.machine)
        if found.state != .ok || !network.contains(where: { $0.state == .problem }) { checks.append(found) }
        checks += listening(status, facts.machine)
        checks.append(firewall(status, facts.machine))
        checks.append(clock(facts))
        checks += apps(facts)
        if let check = browsers(facts.machine) { checks.append(check) }
        checks += pageExclusions(facts.machine)
        checks.append(sandbox(facts))
        checks += limits(facts.diagnosis)
        checks += members(status, facts.diagnosis)
        if let check = stateFolder(facts.diagnosis) { checks.append(check) }
        if let check = leftovers(facts.machine.leftovers) { checks.append(check) }
        // What the check of the account says is not said again.
        checks += status.warnings.filter { $0 != status.standing?.problem }.map {
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
                "the daemon did not answer all questions within \(timeout.components.seconds) s: a disk may hang",
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

    static func account(_ status: ControlStatus) -> DoctorCheck {
        if let obstacle = Obstacle.account(status) {
            return DoctorCheck("account", .problem, obstacle.message, remedy: obstacle.remedy)
        }
        return DoctorCheck("account", .ok, "this device is in account \(status.account?.short ?? "")")
    }

    private static func switches(_ switches: ControlSwitches) -> [DoctorCheck] {
        let checks = switches.holds.map { hold in
            let until = hold.until.map { " until \(LocalTime.text($0))" } ?? ""
            let isForAll = hold.device == nil && hold.author != .session
            return DoctorCheck(
                "switches", isForAll ? .problem : .warning, hold.message + until, remedy: hold.remedy)
        }
        return checks.isEmpty ? [DoctorCheck("switches", .ok, "advertising and receiving are on")] : checks
    }

    private static func apps(_ facts: DoctorFacts) -> [DoctorCheck] {
        var checks = (facts.diagnosis?.appProblems ?? []).map {
            DoctorCheck("apps", .warning, $0, remedy: "mend the file or delete it: it is read again at once")
        }
        guard let apps = facts.apps else { return checks }
        for app in apps {
            checks += zip(ChoiceText.conflicts(app), app.yields ?? []).map {
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
                        : "put X-Handoff-ActivityTypes=TYPE; into the desktop entry of an app, or X-Handoff-Exec=COMMAND %u %f into "
                            + "that of one which knows nothing of Handoff; what is known is shown by: handoffctl apps"))
        }
        return checks
    }
}

/// What came of one check of `doctor`.
package struct DoctorCheck: Equatable, Sendable {
    /// How it is; the raw values are the words of `--json`.
    package enum State: String, Sendable {
        /// As it should be.
        case ok
        /// It may stop a handoff, or nobody can tell.
        case warning
        /// It stops handoffs.
        case problem
    }

    /// What was looked at: one word, stable.
    package let name: String
    package let state: State
    /// What was found, as a sentence in lower case.
    package let message: String
    /// What to do about it; nil where there is nothing to do.
    package let remedy: String?

    package init(_ name: String, _ state: State, _ message: String, remedy: String? = nil) {
        self.name = name
        self.state = state
        self.message = message
        self.remedy = remedy
    }

    /// The check as `--json` prints it.
    package var json: JSONObject {
        [
            "check": .string(name), "state": .string(state.rawValue), "message": .string(message),
            "remedy": remedy.map { .string($0) } ?? .null,
        ]
    }
}

/// All that `doctor` has found out; what it means is decided by `Doctor`. Plain values.
package struct DoctorFacts: Sendable {
    /// How a daemon that said its status failed to answer what came after it.
    package enum Interruption: Equatable, Sendable {
        /// It was silent for as long as it may take.
        case silence
        /// It ended the connection, refused, or sent what makes no sense; why, for people.
        case failure(String)
    }

    /// What the daemon says of itself; nil when it cannot be asked.
    package var status: ControlStatus?
    /// Why it cannot be asked.
    package var unreachable: String?
    /// Why it did not answer all that came after its status; nil when it did.
    package var interruption: Interruption?
    /// What only the daemon knows; nil when it does not tell.
    package var diagnosis: ControlDiagnosis?
    /// The apps here; nil when the daemon does not tell.
    package var apps: [ControlApp]?
    /// What the machine says.
    package var machine: MachineFacts

    /// Facts with these properties.
    package init(
        status: ControlStatus? = nil, unreachable: String? = nil, interruption: Interruption? = nil,
        diagnosis: ControlDiagnosis? = nil, apps: [ControlApp]? = nil, machine: MachineFacts = MachineFacts()
    ) {
        self.status = status
        self.unreachable = unreachable
        self.interruption = interruption
        self.diagnosis = diagnosis
        self.apps = apps
        self.machine = machine
    }
}
