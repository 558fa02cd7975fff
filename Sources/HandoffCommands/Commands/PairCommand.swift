import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO
import QRText

/// `pair`: admits a new device to the account.
package struct PairCommand: Command {
    package static let specification = CommandSpecification(
        words: ["pair"], summary: "admit a new device to the account: show a code and wait",
        options: [
            OptionSpecification("--yes", .flag, "admit the first device that knows the code, without asking"),
            OptionSpecification("--qr", .flag, "on a terminal: show the link as a QR code instead of text"),
            OptionSpecification(
                "--timeout", .value("SECONDS"),
                "close the pairing window after this time (default and maximum: "
                    + "\(Limits.pairingWindowLifetime.components.seconds))"),
        ],
        details: """
            Opens a window of \(Limits.pairingWindowLifetime.components.seconds) s and shows the
            \(Limits.pairingCodeDigits) digits, on a terminal the link, and the address that the new device connects to,
            for handoffctl join --peer if it does not find this device automatically. On the new device, run handoffctl
            join and type the digits, or open the link there or paste it. The link contains a longer secret. Both are
            valid for one device. Ctrl-C, and the answer no, close the window earlier.

            The command reports each wrong guess, with the number of remaining guesses. After five, the digits are
            invalid, and only the link works. After too many recent wrong codes, no digits are shown. When a device
            knows the code, you are asked whether to admit it, with its name and the beginning of its id: compare them
            with the output of handoffctl status there. On a terminal the remaining time is counted down. The link is a
            secret that is easily stored by mistake, so it is shown only on a terminal and with --json. --qr needs a
            terminal that is large enough.

            With --json:

              opened     code (null without digits), link, addresses, seconds: the window is open
              wrongCode  guessesLeft: a device tried a wrong code
              codeEnded  too many wrong codes; only the link works
              confirm    device (id, name): this device knows the code; your confirmation is needed
              gone       device: it disconnected before an answer; the window stays open
              joining    device: the account is handed over
              joined     device: it belongs to the account; the end
            """,
        example: "handoffctl pair")

    private let request: PairRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        var timeout: Double?
        if let text = arguments.value("--timeout") {
            timeout = try ArgumentValue.seconds(text, option: "--timeout", command: Self.specification.name)
        }
        request = PairRequest(
            automatic: arguments.has("--yes"), showsQRCode: arguments.has("--qr"),
            timeout: timeout.map { .seconds($0) })
    }

    package func run(in context: CommandContext) {
        guard request.automatic || context.keyboard.isTerminal else {
            return context.fail(.confirmationImpossible("whether to admit a device"))
        }
        let session = PairSession(request, context)
        context.keep(session)
        session.start()
    }
}

/// The validated arguments of `pair`.
struct PairRequest {
    /// True to admit the first device that knows the code.
    let automatic: Bool
    /// True to show the link as a QR code where possible.
    let showsQRCode: Bool
    /// When to close the window, if earlier than the daemon does.
    let timeout: Duration?
}

/// Formats an open pairing window for the user who adds the device.
struct PairingText {
    /// Complete lines.
    let text: String

    /// - Parameter showsQRCode: true to show the link as a QR code if it fits on the terminal.
    init(_ window: PairingWindowDescription, _ console: Console, showsQRCode: Bool) {
        var text = ""
        var fields: [(label: String, value: String)] = []
        if let code = window.code { fields.append(("code", Self.grouped(code))) }
        if !window.addresses.isEmpty {
            fields.append(("address", window.addresses.map(VisibleText.escape).joined(separator: "\n")))
        }
        // The link is a longer secret than the digits: keep it out of files and pipes, where it
        // would remain.
        if console.outputIsTerminal {
            let columns = showsQRCode ? console.graphicColumns : nil
            if let lines = columns.flatMap({ QRCode(window.link)?.lines(columns: $0) }) {
                text += lines.joined(separator: "\n") + "\n\n"
            } else {
                fields.append(("link", VisibleText.escape(window.link)))
            }
        }
        self.text = text + ColumnTable.fields(fields)
    }

    /// Returns the digits in two groups, `1234 5678`, which people read and type with fewer errors
    /// than all digits in a row.
    private static func grouped(_ code: String) -> String {
        let code = VisibleText.escape(code)
        guard code.count == Limits.pairingCodeDigits else { return code }
        return "\(code.prefix(code.count / 2)) \(code.dropFirst(code.count / 2))"
    }
}

/// Keeps a pairing window open until a device has joined, the window ends, or the user interrupts.
final class PairSession {
    private let request: PairRequest
    private let context: CommandContext
    private let countdown: Countdown
    /// The connection that keeps the window open; closing it closes the window.
    private var window: ControlClient?

    init(_ request: PairRequest, _ context: CommandContext) {
        self.request = request
        self.context = context
        countdown = Countdown(context)
    }

    /// Opens the window.
    func start() {
        context.onInterrupt { [unowned self] in end(.interrupted) }
        if let timeout = request.timeout {
            context.after(timeout) { [unowned self] in fail(.noDeviceInTime()) }
        }
        context.connect { client in
            window = client
            client.pair(automatic: request.automatic) { [unowned self] result in
                switch result {
                case .success(let event): received(event)
                case .failure(let error): fail(CommandFailure(error, joining: false))
                }
            }
        }
    }

    private func received(_ event: PairEvent) {
        countdown.hide()
        if context.json { context.console.line(Self.fields(event)) }
        switch event {
        case .opened(let window):
            opened(window)
        case .wrongCode(let left):
            show("wrong code", left == 1 ? "1 guess left" : "\(left) guesses left")
        case .codeEnded:
            show("code ended", "too many wrong guesses: only the link works now")
        case .confirm(let device):
            return confirm(device)
        case .gone(let device):
            context.withdrawQuestion()
            show("gone", "\(DeviceText.label(device)) disconnected before it was admitted")
        case .joining(let device):
            show("admitting", DeviceText.label(device))
        case .joined(let device):
            show("joined", "\(DeviceText.label(device)) is now in the account")
            return end(.done)
        }
        countdown.show()
    }

    private func opened(_ window: PairingWindowDescription) {
        let whole = Duration.seconds(window.seconds)
        let time = min(whole, request.timeout ?? whole)
        countdown.start(for: time)
        guard !context.json else { return }
        if window.code == nil, !context.console.outputIsTerminal { return fail(.linkOnly()) }
        let text = PairingText(window, context.console, showsQRCode: request.showsQRCode)
        context.console.write(text.text)
        if window.code == nil {
            context.note("too many wrong codes were tried recently: only the link works")
        }
        if window.addresses.isEmpty {
            context.note(
                "this device has no address at which it can be reached",
                remedy: "connect to a network first; see handoffctl doctor")
        }
        if context.console.statusColumns() == nil {
            context.note("waiting for \(Countdown.seconds(time)) s; on the new device run: handoffctl join")
        }
    }

    private func confirm(_ device: PairingDevice) {
        // With --yes, the daemon does not ask. If it does, the answer is the same.
        if request.automatic { return answer(device, accept: true) }
        context.confirm("Admit \(DeviceText.label(device)) to this account?") { [unowned self] accept in
            answer(device, accept: accept)
        }
    }

    /// Answers on a separate connection, because the window occupies the other one.
    private func answer(_ device: PairingDevice, accept: Bool) {
        context.connect { client in
            client.answerPairing(device: device.id, accept: accept) { [unowned self] result in
                switch result {
                case .success: break  // The window reports the result.
                case .failure(.refused(let refusal)):
                    // The device disconnected meanwhile, which the window also reports.
                    countdown.hide()
                    context.note("too late: \(VisibleText.escape(refusal.message))")
                    countdown.show()
                case .failure(let error): fail(CommandFailure(error))
                }
            }
        }
    }

    private func show(_ event: String, _ text: String) {
        if !context.json { context.console.line("\(Describe.word(event, width: 10))  \(text)") }
    }

    private func end(_ status: ExitStatus) {
        countdown.stop()
        context.finish(status)
    }

    private func fail(_ failure: CommandFailure) {
        countdown.stop()
        context.withdrawQuestion()
        context.fail(failure)
    }

    /// Returns an event as printed with `--json`. The window's fields are beside `event`.
    private static func fields(_ event: PairEvent) -> JSONObject {
        switch event {
        case .opened(let window): Describe.event(event.name, window.json)
        case .wrongCode(let left): Describe.event(event.name, ["guessesLeft": .integer(Int64(left))])
        case .codeEnded: Describe.event(event.name, [:])
        case .confirm(let device), .gone(let device), .joining(let device), .joined(let device):
            Describe.event(event.name, ["device": .object(device.json)])
        }
    }
}
