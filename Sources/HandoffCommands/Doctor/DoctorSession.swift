import HandoffClient
import HandoffControl
import HandoffModel

/// `doctor`: diagnoses why handoffs fail.
package struct DoctorCommand: Command {
    package static let specification = CommandSpecification(
        words: ["doctor"], summary: "diagnose why handoffs fail, and show how to fix it",
        details: """
            Checks the daemon, the account, the switches, discovery, the port, firewalls, the clock, apps, the sandbox,
            limits, the other devices and the state folder. Exit status 0: no problem found. 1: at least one problem was
            found.
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
