import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `doctor`: diagnoses why handoffs fail.
package struct DoctorCommand: Command {
    package static let specification = CommandSpecification(
        words: ["doctor"], summary: "diagnose why handoffs fail, and show how to fix it",
        details: """
            Each check is ok, a warning or a problem, and reports its result and a solution. The command changes
            nothing, and needs no privilege. Exit status 0: no problem found. 1: a problem was found, or the daemon
            cannot be reached. These are the checks:

              daemon     the daemon replies completely, and has the same version
              account    this device is in an account
              switches   restrictions of advertising and receiving by the user, the configuration, the administrator or
                         the screen
              network    an interface is up and has an address; the configured interfaces exist; its MTU is at
                         least 1,280 bytes, which the record that other devices use to find this one requires
              discovery  the discovery in use, whether Avahi announces this device, and whether it allows other
                         programs to use multicast DNS
              port       the daemon listens
              firewall   whether ufw, firewalld, nftables or iptables is active. Their rules are not evaluated: an
                         active firewall is a warning with the command that allows the ports, until another device is
                         online
              clock      the clock is synchronised; no member was started by a clock that is 5 minutes or more ahead of
                         this one
              apps       the number of apps that continue activities here; their invalid files; conflicting claims for
                         which you have not chosen an app
              notices    whether offers are shown as notifications: they may be disabled, there may be no notification
                         server, the screen may be locked; muted apps, dismissed offers
              browsers   where the browser extension is installed: a browser that supports it, or only sandboxed ones;
                         a file or line of browser.conf that cannot be read, which prevents all pages from being
                         offered
              sandbox    users may create the namespaces for the second layer of the daemon's sandbox
              files      limit of the daemon: fewer than 1,024 open files
              memory     limit of the daemon: less than 64 KiB of locked memory
              devices    each other member: whether it is online, when it last sent something, why the last connection
                         failed, also while its announcements arrive (a firewall probably blocks TCP); that none has
                         replied for a day
              state      only the user can access the state folder
              parts      the number and location of interrupted transfers that are kept hidden, and of documents of
                         apps that were killed; only if there are any
              items      the items that waited for a device and could not be delivered; only if there are any
              warning    the warnings of handoffctl status

            With --json, a line for each check, or several of a name: check, state, message, remedy (null if nothing
            needs to be done).
            """,
        example: "handoffctl doctor")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        let session = DoctorSession(context)
        context.keep(session)
        session.start()
    }
}

/// One run of `doctor`: queries the daemon, inspects the machine, and shows the checks.
final class DoctorSession {
    private let context: CommandContext
    private var client: ControlClient?
    private var facts = DoctorFacts()
    private var isDone = false

    init(_ context: CommandContext) {
        self.context = context
    }

    func start() {
        facts.machine = MachineProbe.facts()
        do {
            let client = try ControlClient(path: context.socketPath, loop: context.loop)
            self.client = client
            context.after(Doctor.timeout) { [weak self] in
                self?.failed("the daemon at \(self?.context.socketPath ?? "") does not respond")
            }
            client.getStatus { [weak self] in self?.handleStatus($0) }
        } catch {
            failed(CommandFailure(error).message)
        }
    }

    private func handleStatus(_ result: Result<ControlStatus, ClientError>) {
        switch result {
        case .failure(let error): failed(CommandFailure(error).message)
        case .success(let status):
            facts.status = status
            client?.diagnose { [weak self] result in
                guard let self else { return }
                facts.diagnosis = value(of: result)
                let folder = facts.diagnosis.flatMap { try? WaitingFolder(state: $0.stateFolder) }
                facts.undelivered = folder?.undelivered ?? []
                client?.listApps { [weak self] result in
                    guard let self else { return }
                    facts.apps = value(of: result)
                    finish()
                }
            }
        }
    }

    /// Returns the value of a reply, or nil for a failure. Records the failure, except from an
    /// older daemon that does not support the request.
    private func value<Value>(of result: Result<Value, ClientError>) -> Value? {
        switch result {
        case .success(let value): return value
        case .failure(.refused(let refusal)) where refusal.isAboutMethod: return nil
        case .failure(let error):
            // The first failure has the cause.
            if facts.interruption == nil { facts.interruption = .failure(CommandFailure(error).message) }
            return nil
        }
    }

    private func failed(_ message: String) {
        if facts.status == nil { facts.unreachable = message } else { facts.interruption = .silence }
        finish()
    }

    private func finish() {
        guard !isDone else { return }
        isDone = true
        client?.close()
        // Show problems first, then warnings; otherwise keep the order of the checks.
        let found = Doctor.checks(facts)
        let checks = [DoctorCheck.State.problem, .warning, .ok].flatMap { state in found.filter { $0.state == state } }
        for check in checks {
            context.show(check)
        }
        context.finish(checks.contains { $0.state == .problem } ? .failed : .done)
    }
}

extension CommandContext {
    /// Shows the result of one check.
    func show(_ check: DoctorCheck) {
        guard !json else { return console.line(check.json) }
        let emphasis: Emphasis =
            switch check.state {
            case .ok: .good
            case .warning: .warning
            case .problem: .problem
            }
        let state = console.emphasize(Describe.word(check.state.rawValue, width: 7), emphasis)
        console.line("\(state)  \(Describe.word(check.name, width: 9))  \(VisibleText.escape(check.message))")
        // Show the remedy on its own line, marked, so that it can be copied.
        guard let remedy = check.remedy else { return }
        console.line("\(Describe.word("", width: 18))  -> \(VisibleText.escape(remedy))")
    }
}
