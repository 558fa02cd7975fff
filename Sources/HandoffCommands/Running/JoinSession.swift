import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Timing

/// Prompts for the code and joins with it. Prompts again after a wrong code if there is a terminal.
final class JoinSession {
    private let peer: String?
    private let context: CommandContext
    /// The codes refused in this run. The other device counts guesses, so trying one again would
    /// waste a guess.
    private var failed: [PairingSecret] = []
    /// The status line that shows how long the inviting device has been searched for.
    private let status: StatusLine
    private var looking: (since: MonotonicInstant, timer: LoopTimer?)?

    init(peer: String?, _ context: CommandContext) {
        self.peer = peer
        self.context = context
        status = StatusLine(context.console)
    }

    /// Reads the code.
    func start() {
        if context.keyboard.isTerminal { prompt() } else { readLine() }
    }

    private func prompt() {
        context.ask("Code shown on the other device: ") { [unowned self] text in
            guard let text else { return context.finish(.interrupted) }
            guard let secret = PairingSecret(text) else {
                if !text.isEmpty {
                    context.note(
                        "not a code: type \(Limits.pairingCodeDigits) digits, or a link that begins with handoff:")
                }
                return prompt()
            }
            guard !failed.contains(secret) else {
                context.note("that code was already rejected; get a new one on the other device")
                return prompt()
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
        prompt()
    }

    /// Shows the elapsed time until a device is found, which can take half a minute.
    private func look() {
        guard status.isPossible, context.status == nil else { return }
        let now = context.loop.now
        let since = looking?.since ?? now
        status.show("looking for a device, \(Countdown.text(since.duration(to: now)))")
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
            show("looking", "for a device with an open pairing window")
            look()
        case .calling(let address): show("calling", VisibleText.escape(address))
        case .waiting(let device): show("waiting", "for \(DeviceText.label(device)) to confirm")
        case .joined: break
        }
    }

    /// Adds the number of devices if possible. Joining has succeeded regardless of this request.
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

    private func show(_ event: String, _ text: String) {
        context.console.line("\(Describe.word(event, width: 7))  \(text)")
    }

    /// Returns an event as printed with `--json`, without absent fields.
    private static func fields(_ event: JoinEvent) -> JSONObject {
        var fields: JSONObject = [:]
        for field in event.json where !field.value.isNull { fields[field.key] = field.value }
        return Describe.event(event.name, fields)
    }
}
