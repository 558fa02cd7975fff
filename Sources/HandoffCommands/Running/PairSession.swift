import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// Keeps a pairing window open until a device has joined, the window is over, or the user interrupts.
final class PairSession {
    private let request: PairRequest
    private let context: CommandContext
    private let countdown: Countdown
    /// The connection whose end closes the window.
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
            say("wrong code", left == 1 ? "1 guess left" : "\(left) guesses left")
        case .codeEnded:
            say("code ended", "too many wrong guesses: only the link opens the window now")
        case .confirm(let device):
            return ask(device)
        case .gone(let device):
            context.withdrawQuestion()
            say("gone", "\(DeviceText.label(device)) went away before it was let in")
        case .joining(let device):
            say("letting in", DeviceText.label(device))
        case .joined(let device):
            say("joined", "\(DeviceText.label(device)) belongs to the account now")
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
            context.note("too many wrong codes were tried of late: only the link opens the window")
        }
        if window.addresses.isEmpty {
            context.note(
                "there is no address to reach this device by",
                remedy: "join a network first; handoffctl doctor says more")
        }
        if context.console.statusColumns() == nil {
            context.note("waiting for \(Countdown.seconds(time)) s; on the new device run: handoffctl join")
        }
    }

    private func ask(_ device: PairingDevice) {
        // With --yes the daemon does not ask; one that does nevertheless gets the same answer.
        if request.automatic { return answer(device, accept: true) }
        context.confirm("Let \(DeviceText.label(device)) into this account?") { [unowned self] accept in
            answer(device, accept: accept)
        }
    }

    /// Answers on a connection of its own, since the other one is occupied by the window.
    private func answer(_ device: PairingDevice, accept: Bool) {
        context.connect { client in
            client.answerPairing(device: device.id, accept: accept) { [unowned self] result in
                switch result {
                case .success: break  // The window tells what comes of it.
                case .failure(.refused(let refusal)):
                    // The device went away meanwhile, which the window tells, too.
                    countdown.hide()
                    context.note("too late: \(VisibleText.escape(refusal.message))")
                    countdown.show()
                case .failure(let error): fail(CommandFailure(error))
                }
            }
        }
    }

    private func say(_ event: String, _ text: String) {
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

    /// An event as `--json` prints it: the window's own fields stand beside `event`.
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
