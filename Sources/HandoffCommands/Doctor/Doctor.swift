import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// Decides what prevents handoffs and how to fix it. Pure functions of the collected facts.
enum Doctor {
    /// The time limit for the daemon to answer all requests.
    static let timeout = Duration.seconds(10)

    /// Returns all checks in display order.
    static func checks(_ facts: DoctorFacts) -> [DoctorCheck] {
        var checks = [daemon(facts)]
        guard let status = facts.status else {
            // The machine may prevent the daemon from running.
            return checks + [clock(facts), sandbox(facts)]
        }
        checks.append(account(status))
        checks += switches(status.switches)
        let network = network(facts.diagnosis)
        checks += network
        // Discovery may work and still be of no use without a network.
        let found = discovery(status, facts.machine)
        if found.state != .ok || !network.contains(where: { $0.state == .problem }) { checks.append(found) }
        checks += packets(status, facts.machine)
        checks += listening(status, facts.machine)
        checks.append(firewall(status, facts.machine.firewall))
        checks.append(clock(facts))
        checks += apps(facts)
        checks += notices(facts)
        if let check = browsers(facts.machine) { checks.append(check) }
        checks += pageExclusions(facts.machine)
        checks.append(sandbox(facts))
        checks += limits(facts.diagnosis)
        checks += members(status, facts.diagnosis)
        if let check = stateFolder(facts.diagnosis) { checks.append(check) }
        if let check = leftovers(facts.machine.leftovers) { checks.append(check) }
        checks += undelivered(facts)
        // Do not repeat the problem that the account check reports.
        checks += status.warnings.filter { $0 != status.standing?.known?.problem }.map {
            DoctorCheck("warning", .warning, $0, remedy: "see the daemon's log: journalctl --user -u handoffd")
        }
        return checks
    }

    private static func daemon(_ facts: DoctorFacts) -> DoctorCheck {
        guard let status = facts.status else {
            return DoctorCheck(
                "daemon", .problem, facts.unreachable ?? "the daemon is not reachable",
                remedy: "systemctl --user start handoffd; if that fails, see its log: "
                    + "journalctl --user -u handoffd")
        }
        switch facts.interruption {
        case .silence?:
            return DoctorCheck(
                "daemon", .problem,
                "the daemon did not answer all requests within \(timeout.components.seconds) s: a disk may be hanging",
                remedy: "check the disk of its state folder, and its log: journalctl --user -u handoffd")
        case .failure(let why)?:
            return DoctorCheck(
                "daemon", .problem, "the daemon reported its status, but did not answer all other requests: \(why)",
                remedy: "check its log for a failure: journalctl --user -u handoffd; "
                    + "then: systemctl --user restart handoffd")
        case nil: break
        }
        let own = "handoffd/\(ProgramVersion.number)"
        guard status.daemon == own else {
            return DoctorCheck(
                "daemon", .warning,
                "the daemon and this program have different versions: \(status.daemon) and \(own)",
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
        let checks = switches.holds.map { restriction in
            let until = restriction.until.map { " until \(LocalTime.text($0))" } ?? ""
            let isForAll = restriction.device == nil && restriction.author != .session
            return DoctorCheck(
                "switches", isForAll ? .problem : .warning, restriction.message + until, remedy: restriction.remedy)
        }
        return checks.isEmpty ? [DoctorCheck("switches", .ok, "advertising and receiving are on")] : checks
    }

    private static func apps(_ facts: DoctorFacts) -> [DoctorCheck] {
        var checks = (facts.diagnosis?.appProblems ?? []).map {
            DoctorCheck("apps", .warning, $0, remedy: "fix or delete the file: it is read again immediately")
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
                    "no app continues activities here: only web pages open, and handoffctl continue --print works",
                    remedy: apps.contains { !$0.enabled }
                        ? "handoffctl apps shows disabled apps; enable one with: handoffctl app enable ID"
                        : "add X-Handoff-ActivityTypes=TYPE; to the desktop entry of an app, or "
                            + "X-Handoff-Exec=COMMAND %u %f if the app does not support Handoff; "
                            + "list the known apps with: handoffctl apps"))
        }
        return checks
    }
}

extension Doctor {
    /// Returns the items that waited for a device and could not be delivered.
    private static func undelivered(_ facts: DoctorFacts) -> [DoctorCheck] {
        facts.undelivered.map { item in
            let name = facts.diagnosis?.members.first { $0.device == item.device }?.name
            let device = name.map { DeviceText.label($0, item.device) } ?? item.device.short
            return DoctorCheck(
                "items", .warning,
                "\(Describe.title(item.title, type: item.type)) was not delivered to \(device): \(item.reason)",
                remedy: "handoffctl withdraw \(item.id.short) (removes it from the list of this device)")
        }
    }
}

/// The result of one check of `doctor`.
struct DoctorCheck: Equatable, Sendable {
    /// The outcome. The raw values are used in `--json`.
    enum State: String, Sendable {
        /// No problem.
        case ok
        /// It may prevent a handoff, or cannot be determined.
        case warning
        /// It prevents handoffs.
        case problem
    }

    /// The subject of the check: one word, stable.
    let name: String
    let state: State
    /// The finding, as a lower-case sentence.
    let message: String
    /// The solution; nil if nothing needs to be done.
    let remedy: String?

    init(_ name: String, _ state: State, _ message: String, remedy: String? = nil) {
        self.name = name
        self.state = state
        self.message = message
        self.remedy = remedy
    }

    /// The check as printed with `--json`.
    var json: JSONObject {
        [
            "check": .string(name), "state": .string(state.rawValue), "message": .string(message),
            "remedy": remedy.map { .string($0) } ?? .null,
        ]
    }
}

/// The facts collected by `doctor`, as plain values. `Doctor` interprets them.
struct DoctorFacts: Sendable {
    /// Why a daemon that reported its status did not answer all later requests.
    enum Interruption: Equatable, Sendable {
        /// It did not answer within the time limit.
        case silence
        /// It closed the connection, refused, or sent an invalid reply; the reason, as a message.
        case failure(String)
    }

    /// The daemon's status; nil if it is not reachable.
    var status: ControlStatus?
    /// Why the daemon is not reachable.
    var unreachable: String?
    /// Why the daemon did not answer all requests after its status; nil if it did.
    var interruption: Interruption?
    /// Facts that only the daemon knows; nil if it does not report them.
    var diagnosis: ControlDiagnosis?
    /// The apps here; nil if the daemon does not report them.
    var apps: [ControlApp]?
    /// The items that could not be delivered.
    var undelivered: [UndeliveredItem] = []
    /// Facts about the machine.
    var machine = MachineFacts()
}
