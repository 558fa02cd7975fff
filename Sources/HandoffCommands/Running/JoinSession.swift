import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Timing

/// Asks for the code, joins with it, and asks again when it was wrong and somebody can answer.
final class JoinSession {
    private let peer: String?
    private let context: CommandContext
    /// What was refused in this run: the other device counts guesses, and the same one again can only cost one.
    private var failed: [PairingSecret] = []
    /// How long the device that invites has been looked for, at the bottom of a terminal.
    private let status: StatusLine
    private var looking: (since: MonotonicInstant, timer: LoopTimer?)?

    init(peer: String?, _ context: CommandContext) {
        self.peer = peer
        self.context = context
        status = StatusLine(context.console)
    }

    /// Gets the code.
    func start() {
        if context.keyboard.isTerminal { ask() } else { readLine() }
    }

    private func ask() {
        context.ask("Code that the other device shows: ") { [unowned self] text in
            guard let text else { return context.finish(.interrupted) }
            guard let secret = PairingSecret(text) else {
                if !text.isEmpty { context.note("that is no code: it has 8 digits; a link begins with handoff:") }
                return ask()
            }
            guard !failed.contains(secret) else {
                context.note("that code was wrong before; ask for a new one on the other device")
                return ask()
            }
            join(secret)
        }
    }

    private func readLine() {
        do throws(Errno) {
            let line = try context.keyboard.readLine()
            let text = line.map { CommandContext.trimmed(String(decoding: $0, as: UTF8.self)) } ?? ""
            guard let secret = PairingSecret(text) else { return context.fail(.noCode(isEmpty: text.isEmpty)) }
            join(secret)
        } catch {
            context.fail(.file("read", "standard input", why: "\(error)"))
        }
    }

    private func join(_ secret: PairingSecret) {
        let request =
            switch secret {
            case .code(let code): JoinRequest(code: code, address: peer)
            case .link(let link): JoinRequest(link: link, address: peer)
            }
        context.endWhenInterrupted()
        context.connect { client in
            client.join(request) { [unowned self, unowned client] result in
                found()
                switch result {
                case .success(.joined(let account, let device)): joined(account, device, client)
                case .success(let event): show(event)
                case .failure(let error): failed(error, secret)
                }
            }
        }
    }

    private func failed(_ error: ClientError, _ secret: PairingSecret) {
        guard case .refused(let refusal) = error, refusal.kind == "PairingFailed",
            refusal.parameters["reason"]?.string == "wrongCode", context.keyboard.isTerminal
        else {
            return context.leaveFormerAccount(after: CommandFailure(error, joining: true)) { [unowned self] in
                join(secret)
            }
        }
        failed.append(secret)
        context.note(VisibleText.escape(refusal.message))
        ask()
    }

    /// Shows for how long, until something is found, since that may take half a minute.
    private func look() {
        guard status.isPossible, context.status == nil else { return }
        let now = context.loop.now
        let since = looking?.since ?? now
        status.show("looking, for \(Countdown.text(since.duration(to: now)))")
        looking = (since, context.loop.timer(after: .seconds(1)) { [weak self] in self?.look() })
    }

    private func found() {
        looking = nil
        status.clear()
    }

    private func show(_ event: JoinEvent) {
        if context.json { return context.console.line(Self.fields(event)) }
        switch event {
        case .looking:
            say("looking", "for a device that lets others in")
            look()
        case .calling(let address): say("calling", VisibleText.escape(address))
        case .waiting(let device): say("waiting", "for \(DeviceText.label(device)) to confirm")
        case .joined: break
        }
    }

    /// The number of devices is a courtesy: joining has succeeded, whatever comes of the question.
    private func joined(_ account: AccountID, _ device: PairingDevice, _ client: ControlClient) {
        client.getAccount { [unowned self] result in
            let count = (try? result.get())?.devices
            if context.json {
                var fields = Self.fields(.joined(account, by: device))
                if let count { fields["devices"] = .integer(Int64(count)) }
                context.console.line(fields)
            } else {
                let devices = count.map { "; \($0) devices" } ?? ""
                context.console.line("joined account \(account.grouped)\(devices)")
            }
            context.finish(.done)
        }
    }

    private func say(_ event: String, _ text: String) {
        context.console.line("\(Describe.word(event, width: 7))  \(text)")
    }

    /// An event as `--json` prints it, without the fields that it does not have.
    private static func fields(_ event: JoinEvent) -> JSONObject {
        var fields: JSONObject = [:]
        for field in event.json where !field.value.isNull { fields[field.key] = field.value }
        return Describe.event(event.name, fields)
    }
}
