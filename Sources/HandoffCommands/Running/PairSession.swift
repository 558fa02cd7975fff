import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

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
