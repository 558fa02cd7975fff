import HandoffClient
import HandoffJSON
import LoopIO

/// The environment of a running command: its output, its connections to the daemon, and its end.
/// Used only on the loop's thread.
package final class CommandContext {
    let console: Console
    /// True if results and errors are JSON.
    let json: Bool
    /// The control socket of the daemon.
    let socketPath: String
    let loop: EventLoop
    /// True if the process runs only this command, so that it may drop privileges permanently.
    let ownsProcess: Bool
    /// The source of user input.
    let keyboard: Keyboard
    /// The open prompt. Releasing it cancels it.
    var question: AnyObject?
    /// The command's exit status; nil while it runs.
    package private(set) var status: ExitStatus?

    /// The time limit for requests that do not depend on another device.
    private static let timeout = Duration.seconds(45)

    private let onFinish: () -> Void
    /// The open connections; closed when the command ends.
    private var clients: [ControlClient] = []
    /// Other objects that live until the command ends: sessions, timers, signals.
    private var kept: [Any] = []
    private var interruptHandler: (() -> Void)?
    private var watchesSignals = false

    /// - Parameters:
    ///   - ownsProcess: true if the process runs only this command.
    ///   - onFinish: called once when the command has ended; the program then stops the loop.
    init(
        console: Console, keyboard: Keyboard, json: Bool, socketPath: String, loop: EventLoop,
        ownsProcess: Bool = false, onFinish: @escaping () -> Void
    ) {
        self.console = console
        self.keyboard = keyboard
        self.json = json
        self.socketPath = socketPath
        self.loop = loop
        self.ownsProcess = ownsProcess
        self.onFinish = onFinish
    }

    /// Ends the command. Only the first call has an effect.
    func finish(_ status: ExitStatus) {
        guard self.status == nil else { return }
        self.status = status
        interruptHandler = nil
        withdrawQuestion()
        // Events that arrived together with the final reply must not be delivered.
        for client in clients { client.close() }
        clients = []
        kept = []
        onFinish()
    }

    /// Ends the command with a failure and reports it on standard error.
    func fail(_ failure: CommandFailure) {
        guard status == nil else { return }
        console.writeFailure(failure, json: json)
        finish(failure.status)
    }

    /// Replaces this program by another one of Handoff, given by its name or path and its
    /// arguments. Ends the command if that is impossible.
    func replace(by words: [String]) {
        let error = ReplacedProgram.run(words, variables: ["HANDOFF_SOCKET": socketPath])
        let reason = error == .noSuchFile ? "it is not installed" : "\(error)"
        fail(.system("run \(words[0])", why: reason))
    }

    /// Keeps an object alive until the command ends.
    func keep(_ thing: Any) {
        kept.append(thing)
    }

    /// Connects to the daemon and passes on the connection. Fails the command if that is
    /// impossible.
    func connect(orElse cleanUp: () -> Void = {}, _ then: (ControlClient) -> Void) {
        let client: ControlClient
        do {
            client = try ControlClient(path: socketPath, loop: loop)
        } catch {
            cleanUp()
            fail(CommandFailure(error))
            return
        }
        clients.append(client)
        then(client)
    }

    /// Sends one request, shows its result, and ends the command. A timeout is reported like an
    /// unreachable daemon.
    /// - Parameter refused: handles a failure instead of ending the command.
    func request<Value>(
        _ call: (ControlClient, @escaping (Result<Value, ClientError>) -> Void) -> Void,
        present: @escaping (Value) -> Void,
        refused: ((CommandFailure) -> Void)? = nil
    ) {
        connect { client in
            after(Self.timeout) { [unowned self] in
                fail(CommandFailure(.notReachable(path: socketPath, reason: "it does not respond")))
            }
            call(client) { [unowned self] result in
                switch result {
                case .success(let value):
                    present(value)
                    finish(.done)
                case .failure(let error):
                    (refused ?? fail)(CommandFailure(error))
                }
            }
        }
    }

    /// Writes a result: as JSON with `--json`, otherwise as a line of text.
    func show(_ json: @autoclosure () -> JSONObject, or text: @autoclosure () -> String) {
        if self.json { console.line(json()) } else { console.line(text()) }
    }

    /// Sets a handler for SIGHUP, SIGINT and SIGTERM. A command without one is ended by the signal
    /// itself, which closes its connections and so cancels its requests.
    func onInterrupt(_ handler: @escaping () -> Void) {
        interruptHandler = handler
        guard !watchesSignals else { return }
        watchesSignals = true
        do throws(Errno) {
            try ProcessSignals.prepare(blocking: Interrupts.numbers)
            for signal in Interrupts.numbers {
                keep(try loop.signal(signal) { [weak self] in self?.interrupt() })
            }
        } catch {
            fail(.system("watch for signals", why: "\(error)"))
        }
    }

    /// Ends the command cleanly when interrupted, unless another handler is set: the terminal's
    /// echo is restored, and closing the connections cancels pending requests.
    func endWhenInterrupted() {
        if interruptHandler == nil { onInterrupt { [unowned self] in finish(.interrupted) } }
    }

    /// Acts like a signal, for callers that run a command inside another program.
    package func interrupt() {
        interruptHandler?()
    }

    /// Calls the handler once after a delay, unless the command ends first.
    func after(_ delay: Duration, _ handler: @escaping () -> Void) {
        keep(loop.timer(after: delay, handler: handler))
    }

    /// Writes a message to standard error that is neither a result nor a failure. With `--json`, it
    /// is an object with the field `note`, so that every line can be parsed.
    func note(_ text: String) {
        guard !json else { return console.writeDiagnostics(JSONLine.text(["note": .string(text)]) + "\n") }
        console.writeDiagnostics("\(console.emphasizeDiagnostics("handoffctl:", .strong)) \(text)\n")
    }

    /// Writes a message, and the remedy on a line of its own.
    func note(_ text: String, remedy: String) {
        guard !json else { return note("\(text): \(remedy)") }
        note("\(text)\n  \(remedy)")
    }

    /// Reports that the daemon stopped. Called once each time.
    func noteDaemonStopped() {
        note("the daemon stopped; resuming when it is back")
    }
}

/// The signals by which a user, a terminal or a service manager interrupts a command.
enum Interrupts {
    /// SIGHUP, SIGINT and SIGTERM.
    static let numbers: [Int32] = [1, 2, 15]
}
