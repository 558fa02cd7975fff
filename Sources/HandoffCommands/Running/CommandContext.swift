package import HandoffClient
import HandoffJSON
package import LoopIO

/// What a running command works with: where it writes, the daemon that it talks to, and how it ends. Everything in it
/// happens on the loop's thread.
package final class CommandContext {
    package let console: Console
    /// Whether results and errors are JSON.
    package let json: Bool
    /// The control socket of the daemon.
    package let socketPath: String
    package let loop: EventLoop
    /// Whether the process runs this command and nothing else, so that it may give up rights for ever.
    let ownsProcess: Bool
    /// Where the command is answered.
    let keyboard: Keyboard
    /// The question that is open: letting it go gives it up.
    var question: AnyObject?
    /// How the command ended; nil while it runs.
    package private(set) var status: ExitStatus?

    /// How long a call that waits for nobody else may take.
    private static let timeout = Duration.seconds(45)

    private let onFinish: () -> Void
    /// The connections that were made; closed when the command ends.
    private var clients: [ControlClient] = []
    /// What else must live until the command ends: sessions, timers, signals.
    private var kept: [Any] = []
    private var interruptHandler: (() -> Void)?
    private var watchesSignals = false

    /// - Parameters:
    ///   - ownsProcess: whether the process runs nothing but this command.
    ///   - onFinish: called once, when the command has ended; the program then stops the loop.
    package init(
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

    /// Ends the command; only the first end counts.
    package func finish(_ status: ExitStatus) {
        guard self.status == nil else { return }
        self.status = status
        interruptHandler = nil
        withdrawQuestion()
        // What came together with the answer that ended it finds nobody any more.
        for client in clients { client.close() }
        clients = []
        kept = []
        onFinish()
    }

    /// Ends the command with a failure, and says why on standard error.
    package func fail(_ failure: CommandFailure) {
        guard status == nil else { return }
        console.writeFailure(failure, json: json)
        finish(failure.status)
    }

    /// Keeps something alive until the command ends.
    package func keep(_ thing: Any) {
        kept.append(thing)
    }

    /// Connects to the daemon, and goes on with the connection; fails the command when that is impossible.
    package func connect(orElse cleanUp: () -> Void = {}, _ then: (ControlClient) -> Void) {
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

    /// Makes one call, shows its answer, and ends the command; a daemon that does not answer is like one that is away.
    /// - Parameter refused: gets a failure in place of the command's end.
    package func request<Value>(
        _ call: (ControlClient, @escaping (Result<Value, ClientError>) -> Void) -> Void,
        present: @escaping (Value) -> Void,
        refused: ((CommandFailure) -> Void)? = nil
    ) {
        connect { client in
            after(Self.timeout) { [unowned self] in
                fail(CommandFailure(.notReachable(path: socketPath, reason: "it does not answer")))
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

    /// Writes a result: as JSON where that was asked for, and as a line of text where not.
    func show(_ json: @autoclosure () -> JSONObject, or text: @autoclosure () -> String) {
        if self.json { console.line(json()) } else { console.line(text()) }
    }

    /// Calls back when the user, the terminal or the service manager wants the command to end. A command that does not
    /// ask for this is ended by the signal itself, and the end of its connections cancels what it had begun.
    package func onInterrupt(_ handler: @escaping () -> Void) {
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

    /// Ends the command in good order when it is interrupted, unless it has asked for something else: a terminal gets its
    /// echo back, and the end of the connections cancels what was begun.
    func endWhenInterrupted() {
        if interruptHandler == nil { onInterrupt { [unowned self] in finish(.interrupted) } }
    }

    /// Does what a signal does, for whoever runs a command inside another program.
    package func interrupt() {
        interruptHandler?()
    }

    /// Calls back once, unless the command ends before.
    package func after(_ delay: Duration, _ handler: @escaping () -> Void) {
        keep(loop.timer(after: delay, handler: handler))
    }

    /// Says something on standard error that is neither a result nor a failure. Under `--json` it is an object with
    /// `note`, so that every line there can be parsed.
    package func note(_ text: String) {
        guard !json else { return console.writeDiagnostics(JSONLine.text(["note": .string(text)]) + "\n") }
        console.writeDiagnostics("\(console.emphasizeDiagnostics("handoffctl:", .strong)) \(text)\n")
    }

    /// The same, and on a line of its own what to do about it.
    package func note(_ text: String, remedy: String) {
        guard !json else { return note("\(text): \(remedy)") }
        note("\(text)\n  \(remedy)")
    }

    /// Says that the daemon went away, once for each time that it does.
    package func sayDaemonWentAway() {
        note("the daemon went away; going on as soon as it is back")
    }
}

/// The signals with which a user, a terminal or a service manager asks a command to end.
package enum Interrupts {
    /// SIGHUP, SIGINT and SIGTERM.
    package static let numbers: [Int32] = [1, 2, 15]
}
