import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `join`: adds this device to an account.
package struct JoinCommand: Command {
    package static let specification = CommandSpecification(
        words: ["join"], operandCount: 0...64, summary: "join an account with the code that another device shows",
        options: [
            OptionSpecification(
                "--peer", .value("HOST:PORT"), "the address of that device, if it is not found automatically")
        ],
        details: """
            Run handoffctl pair on a device of the account. It shows an \(Limits.pairingCodeDigits)-digit code and a
            link. This command prompts for either one; the digits can be typed in any groups. From a pipe it reads one
            line: 'echo 12345678 | handoffctl join'. The code cannot be an argument: every user of this machine could
            read it, and the shell would save it. On a terminal you can correct a wrong code. A code that was rejected
            before in the same run is not tried again.

            The other device is searched for in the network, unless the link or --peer contains its address. Its user
            then confirms. A device that was removed from its account leaves that account first and gets a new
            identity.

            On failure, the error is PairingFailed with one of these reasons: wrongCode, codeUsed, windowClosed, busy,
            declined, cancelled, nobodyThere, unreachable, noNetwork, untrusted, versionsDiffer, alreadyMember,
            removed, accountFull, failed.

            With --json:

              looking  searches for devices that admit others; not with an address or a link
              calling  address: connects to it
              waiting  device (id, name): the code is correct, and that device's user must confirm
              joined   account, device, devices (how many): this device belongs to the account; the end
            """,
        example: "handoffctl join")

    private let peer: String?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        if !arguments.operands.isEmpty { throw .codeAsArgument() }
        peer = try arguments.value("--peer").map { text throws(UsageError) in
            try ArgumentValue.peerAddress([text], command: Self.specification.name)
        }
    }

    package func run(in context: CommandContext) {
        let session = JoinSession(peer: peer, context)
        context.keep(session)
        session.start()
    }
}

/// The code shown by the inviting device: digits or a link.
enum PairingSecret: Equatable {
    /// `Limits.pairingCodeDigits` ASCII digits.
    case code(String)
    /// A text that begins with `handoff:`. The daemon parses the rest.
    case link(String)

    private static let scheme = "handoff:"
    /// The maximum length of a link, in bytes.
    private static let maxLink = 512

    /// Parses typed input: digits in any groups, or a link. Nil if it is neither.
    init?(_ text: String) {
        if text.lowercased().hasPrefix(Self.scheme) {
            let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard isVisible, text.utf8.count <= Self.maxLink else { return nil }
            // Schemes are case-insensitive; the rest is kept as is.
            self = .link(Self.scheme + text.dropFirst(Self.scheme.count))
            return
        }
        let bare = text.filter { !$0.isWhitespace && $0 != "-" }
        guard bare.utf8.count == Limits.pairingCodeDigits, bare.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        self = .code(bare)
    }
}

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
