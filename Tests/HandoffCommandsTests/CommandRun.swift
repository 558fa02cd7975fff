import HandoffCommands
import HandoffJSON
import HandoffTestSupport
import LoopIO

/// A command line that runs against a fake daemon, and what it wrote.
final class CommandRun {
    let test: LoopTest
    let daemon: FakeDaemon
    private(set) var output = ""
    private(set) var diagnostics = ""
    private(set) var context: CommandContext?
    /// What a person types: taken line by line; with the last one taken the person is silent. Nil for no terminal.
    var typing: [String]?
    /// The keys that a person presses, one after the other.
    var pressing: [TerminalKey] = []
    /// What a program writes to standard input, line by line, when it is no terminal.
    var piped: [String] = []
    /// What a program writes to standard input, piece by piece, for commands that read bytes.
    let input = Locked<[[UInt8]]>([])
    /// Bytes that were written to standard output.
    let written = Locked<[UInt8]>([])
    /// How wide a terminal is that shows graphics; nil for one that does not.
    var graphicColumns: Int?
    /// What was asked for, in its order.
    private(set) var asked: [TerminalLine.Form] = []
    /// Questions that were asked and are neither answered nor given up.
    private(set) var openQuestions = 0
    /// Called after each line of output.
    var onOutput: (String) -> Void = { _ in }
    /// Called after each line on standard error.
    var onDiagnostics: (String) -> Void = { _ in }

    init(clock: ManualClock? = nil) throws {
        test = try LoopTest(clock: clock)
        daemon = try FakeDaemon(path: test.folder.file("control.socket"), loop: test.loop)
    }

    /// Runs a command line to its end.
    /// - Parameters:
    ///   - onTerminal: whether it writes to a terminal.
    ///   - answer: what the daemon does with each call.
    func run(
        _ words: String..., onTerminal: Bool = false, answer: @escaping (FakeDaemon.Call) -> Void = { _ in }
    ) throws -> ExitStatus {
        try run(words, onTerminal: onTerminal, answer: answer)
    }

    /// The same for a command line that is put together.
    /// - Parameter ownsProcess: whether the command may give up rights of its thread for ever.
    func run(
        _ words: [String], onTerminal: Bool = false, ownsProcess: Bool = false,
        answer: @escaping (FakeDaemon.Call) -> Void = { _ in }
    ) throws -> ExitStatus {
        daemon.onCall = answer
        let console = Console(
            outputIsTerminal: onTerminal, diagnosticsAreTerminal: onTerminal,
            graphicColumns: onTerminal ? graphicColumns : nil,
            statusColumns: { [unowned self] in onTerminal ? graphicColumns : nil },
            output: { [unowned self] text in
                output += text
                onOutput(text)
            },
            diagnostics: { [unowned self] text in
                diagnostics += text
                onDiagnostics(text)
            }, writeBytes: { [written] bytes in written.withLock { $0 += bytes } })
        let environment = Program.Environment(socket: daemon.path, runtimeDirectory: nil, userID: 1000)
        let start = Program.start(
            words, environment, console, keyboard, on: test.loop, ownsProcess: ownsProcess
        ) { [test] in test.end() }
        switch start {
        case .ended(let status): return status
        case .running(let context):
            self.context = context
            if context.status == nil { try test.run() }
            return context.status ?? .failed
        }
    }

    /// Somebody or nobody at a terminal; counts what is asked.
    private var keyboard: Keyboard {
        Keyboard(
            isTerminal: typing != nil,
            ask: { [unowned self] form, loop, reply throws(Errno) in
                guard typing != nil else { throw Errno(rawValue: 6) }  // ENXIO
                asked.append(form)
                let question = Question { [weak self] in self?.openQuestions -= 1 }
                openQuestions += 1
                if typing?.isEmpty == false, let line = typing?.removeFirst() {
                    loop.later { [weak question] in
                        // Given up meanwhile: the line goes nowhere.
                        if question != nil { reply(.success(line == Self.endOfInput ? nil : Array(line.utf8))) }
                    }
                }
                return question
            },
            keys: { [unowned self] loop, report throws(Errno) in
                guard typing != nil else { throw Errno(rawValue: 6) }  // ENXIO
                openQuestions += 1
                let question = Question { [weak self] in self?.openQuestions -= 1 }
                press(loop, question, report)
                return question
            },
            readLine: { [unowned self] () throws(Errno) in piped.isEmpty ? nil : Array(piped.removeFirst().utf8) },
            readSome: { [input] _ in input.withLock { $0.isEmpty ? [] : $0.removeFirst() } })
    }

    private func press(_ loop: EventLoop, _ question: Question, _ report: @escaping Keyboard.KeyReport) {
        guard !pressing.isEmpty else { return }
        let key = pressing.removeFirst()
        loop.later { [weak self, weak question] in
            guard let self, let question else { return }
            report(.success(key))
            press(loop, question, report)
        }
    }

    /// What a person types for Ctrl-D at the beginning of a line.
    static let endOfInput = "\u{4}"

    /// Does what Ctrl-C does, once the daemon's answers that are on their way have come.
    func interruptSoon() {
        afterReplies { [weak self] in self?.context?.interrupt() }
    }

    /// Does something once the daemon's answers that are on their way have come: after turns of the loop, so that no
    /// clock decides.
    func afterReplies(_ work: @escaping () -> Void) { later(50, work) }

    private func later(_ turns: Int, _ work: @escaping () -> Void) {
        guard turns > 0 else { return work() }
        test.loop.later { [weak self] in self?.later(turns - 1, work) }
    }

    /// Does something in a later turn of the loop.
    func later(_ work: @escaping () -> Void) { test.loop.later(work) }

    /// What was written to standard output, line by line, as JSON.
    var objects: [JSONObject] { Self.objects(output) }

    /// What was written to standard error, line by line, as JSON.
    var errorObjects: [JSONObject] { Self.objects(diagnostics) }

    private static func objects(_ text: String) -> [JSONObject] {
        text.split(separator: "\n").compactMap { line in
            (try? JSON(parsing: Array(line.utf8), limits: JSONLimits(bytes: 1_000_000)))?.object
        }
    }
}

/// A question that was asked; counted out when it is let go.
private final class Question {
    private let end: () -> Void

    init(_ end: @escaping () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}
