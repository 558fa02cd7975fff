import Dispatch
import Foundation

/// The terminal of an example: a picture that is redrawn when something changes, messages below it,
/// and commands. Without a terminal, or with `--plain`, every message is a separate line and the
/// picture is drawn only on `show`, so that other programs can read the output.
///
/// Standard input is read on a separate thread: a dispatch source on a pipe may miss its end, and
/// Foundation's file handle ends the process if reading fails.
@MainActor
package final class Terminal {
    /// The number of messages below the picture.
    private static let messageCount = 5

    /// Returns the picture, one string per line.
    package var picture: () -> [String] = { [] }

    private let about: About
    private let isPlain: Bool
    private let rawMode: RawMode?
    private var keyboard: Keyboard
    private var rest: [UInt8] = []
    private var messages: [String] = []
    /// Shown in place of the picture until the next command.
    private var overlay: [String]?
    private var perform: (Command) -> Void = { _ in }
    private var ended: () -> Void = {}
    private var signals: [any DispatchSourceSignal] = []

    /// Takes control of the terminal. If the arguments request help or are invalid, prints the help
    /// or an error and ends the process.
    package init(_ about: About, arguments: [String] = Array(CommandLine.arguments.dropFirst())) {
        self.about = about
        StandardInput.reserve()
        var isPlain = false
        for argument in arguments {
            switch argument {
            case "--plain": isPlain = true
            case "--help", "-h":
                Self.write(about.help + "\n")
                exit(0)
            default:
                FileHandle.standardError.write(
                    Data("\(about.name): unknown argument '\(argument.printable)' (see \(about.name) --help)\n".utf8))
                exit(2)
            }
        }
        rawMode = isPlain ? nil : RawMode()
        self.isPlain = rawMode == nil
        keyboard = Keyboard(keys: about.keys)
        if rawMode != nil { Self.write(Screen.enter) }
    }

    // MARK: Output

    /// Shows a message.
    package func report(_ message: String) {
        let line = message.printable
        guard !isPlain else { return Self.write(line + "\n") }
        messages = (messages + [line]).suffix(Self.messageCount)
        redraw()
    }

    /// Reports that a command is unknown or incomplete.
    package func reportInvalid(_ command: Command) {
        let line = ([command.word] + command.arguments).joined(separator: " ")
        report("unknown or incomplete command '\(line)'; 'help' lists the commands")
    }

    /// Redraws the picture. Does nothing without a terminal.
    package func redraw() {
        guard !isPlain else { return }
        let lines = (overlay ?? picture()) + [""] + messages.map { "  " + $0 }
        Self.write(Screen.frame(lines, prompt: "\(about.name)> \(keyboard.line.printable)"))
    }

    /// Restores the terminal, and ends the process.
    package func quit() -> Never {
        if let rawMode {
            Self.write(Screen.leave)
            rawMode.end()
        }
        exit(0)
    }

    // MARK: Input

    /// Starts to perform commands on the main queue. `show`, `help` and `quit` are handled here.
    package func readCommands(_ perform: @escaping (Command) -> Void) {
        read(
            { [self] command in if !handles(command) { perform(command) } },
            ended: { [self] in quit() })
    }

    /// Returns the commands for an asynchronous main, without `show`, `help` and `quit`, which are
    /// handled in order. The sequence ends with the input. The program should then call `quit()`.
    package func commands() -> some AsyncSequence<Command, Never> {
        let (stream, continuation) = AsyncStream<Command>.makeStream()
        read({ continuation.yield($0) }, ended: { continuation.finish() })
        return stream.filter { await !self.handles($0) }
    }

    private func read(_ perform: @escaping (Command) -> Void, ended: @escaping () -> Void) {
        self.perform = perform
        self.ended = ended
        watchSignals()
        redraw()
        Thread.detachNewThread { [self] in
            while true {
                let bytes = StandardInput.next()
                DispatchQueue.main.async { self.received(bytes) }
                if bytes.isEmpty { return }
            }
        }
    }

    /// Runs an action after a delay, on the main queue.
    package func after(_ duration: Duration, _ body: @escaping () -> Void) {
        Task {
            try? await Task.sleep(for: duration)
            body()
        }
    }

    private func received(_ bytes: [UInt8]) {
        if rawMode == nil {
            rest += bytes
            while let end = rest.firstIndex(of: 0x0A) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeFirst(end + 1)
                if let command = Command(line) { perform(command) }
            }
        } else {
            for event in keyboard.received(bytes) {
                switch event {
                case .command(let command): perform(command)
                case .typed: break
                case .quit: quit()
                }
            }
            redraw()
        }
        if bytes.isEmpty { ended() }
    }

    /// Performs a command that every program has.
    /// - Returns: false for any other command.
    private func handles(_ command: Command) -> Bool {
        overlay = nil
        switch command.word {
        case "quit", "q": quit()
        case "help" where isPlain: Self.write(about.commandList.map { $0 + "\n" }.joined())
        case "help":
            overlay = about.commandList
            redraw()
        case "show": isPlain ? Self.write(picture().map { $0 + "\n" }.joined()) : redraw()
        default: return false
        }
        return true
    }

    private func watchSignals() {
        guard rawMode != nil else { return }
        for number in [SIGTERM, SIGHUP, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { [self] in interrupted() }
            source.resume()
            signals.append(source)
        }
    }

    private func interrupted() { quit() }

    private static func write(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            // The output is closed: there is nowhere to report it.
            exit(1)
        }
    }
}
