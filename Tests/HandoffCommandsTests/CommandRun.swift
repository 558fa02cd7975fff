import HandoffJSON
import HandoffTestSupport
import LoopIO

@testable import HandoffCommands

/// Runs a command line against a fake daemon and collects its output.
final class CommandRun {
    let test: LoopTest
    let daemon: FakeDaemon
    private(set) var output = ""
    private(set) var diagnostics = ""
    private(set) var context: CommandContext?
    /// The lines that the user types, one per prompt. Later prompts get no input. Nil for no
    /// terminal.
    var typing: [String]?
    /// The keys that the user presses, in order.
    var pressing: [TerminalKey] = []
    /// The lines on standard input if it is not a terminal.
    var piped: [String] = []
    /// The chunks on standard input, for commands that read bytes.
    let input = Locked<[[UInt8]]>([])
    /// The bytes written to standard output.
    let written = Locked<[UInt8]>([])
    /// The width of a terminal that shows graphics; nil for one that does not.
    var graphicColumns: Int?
    /// The forms of the prompts, in order.
    private(set) var prompts: [TerminalLine.Form] = []
    /// The number of prompts that are neither answered nor cancelled.
    private(set) var openPrompts = 0
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
    ///   - onTerminal: true if it writes to a terminal.
    ///   - answer: handles each call to the daemon.
    func run(
        _ words: String..., onTerminal: Bool = false, answer: @escaping (FakeDaemon.Call) -> Void = { _ in }
    ) throws -> ExitStatus {
        try run(words, onTerminal: onTerminal, answer: answer)
    }

    /// Runs a command line given as an array.
    /// - Parameter ownsProcess: true if the command may permanently drop privileges of its thread.
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

    /// A keyboard that types the configured lines and counts prompts.
    private var keyboard: Keyboard {
        Keyboard(
            isTerminal: typing != nil,
            ask: { [unowned self] form, loop, reply throws(Errno) in
                guard typing != nil else { throw Errno(rawValue: 6) }  // ENXIO
                prompts.append(form)
                let prompt = Prompt { [weak self] in self?.openPrompts -= 1 }
                openPrompts += 1
                if typing?.isEmpty == false, let line = typing?.removeFirst() {
                    loop.later { [weak prompt] in
                        // Drop the line if the prompt was cancelled meanwhile.
                        if prompt != nil { reply(.success(line == Self.endOfInput ? nil : Array(line.utf8))) }
                    }
                }
                return prompt
            },
            keys: { [unowned self] loop, report throws(Errno) in
                guard typing != nil else { throw Errno(rawValue: 6) }  // ENXIO
                openPrompts += 1
                let prompt = Prompt { [weak self] in self?.openPrompts -= 1 }
                press(loop, prompt, report)
                return prompt
            },
            readLine: { [unowned self] () throws(Errno) in piped.isEmpty ? nil : Array(piped.removeFirst().utf8) },
            readSome: { [input] _ in input.withLock { $0.isEmpty ? [] : $0.removeFirst() } })
    }

    private func press(_ loop: EventLoop, _ prompt: Prompt, _ report: @escaping Keyboard.KeyReport) {
        guard !pressing.isEmpty else { return }
        let key = pressing.removeFirst()
        loop.later { [weak self, weak prompt] in
            guard let self, let prompt else { return }
            report(.success(key))
            press(loop, prompt, report)
        }
    }

    /// The input for Ctrl-D at the beginning of a line.
    static let endOfInput = "\u{4}"

    /// Acts like Ctrl-C once pending replies of the daemon have arrived.
    func interruptSoon() {
        afterReplies { [weak self] in self?.context?.interrupt() }
    }

    /// Runs work once pending replies of the daemon have arrived. Waits for turns of the loop,
    /// which do not depend on a clock.
    func afterReplies(_ work: @escaping () -> Void) { later(50, work) }

    private func later(_ turns: Int, _ work: @escaping () -> Void) {
        guard turns > 0 else { return work() }
        test.loop.later { [weak self] in self?.later(turns - 1, work) }
    }

    /// Runs work in a later turn of the loop.
    func later(_ work: @escaping () -> Void) { test.loop.later(work) }

    /// The lines of standard output, parsed as JSON.
    var objects: [JSONObject] { Self.objects(output) }

    /// The lines of standard error, parsed as JSON.
    var errorObjects: [JSONObject] { Self.objects(diagnostics) }

    private static func objects(_ text: String) -> [JSONObject] {
        text.split(separator: "\n").compactMap { line in
            (try? JSON(parsing: Array(line.utf8), limits: JSONLimits(bytes: 1_000_000)))?.object
        }
    }
}

/// An open prompt. Reports when it is released.
private final class Prompt {
    private let end: () -> Void

    init(_ end: @escaping () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}
