import HandoffJSON
import LoopIO

/// The output of a command. A value of closures, so that tests can collect what a terminal would
/// show.
package struct Console {
    /// Writes to standard output, which carries only results.
    private let output: (String) -> Void
    /// Writes to standard error, which carries everything else.
    private let diagnostics: (String) -> Void
    /// Writes binary data to standard output. For a thread that may block.
    let writeBytes: @Sendable ([UInt8]) throws -> Void
    /// True if standard output is a terminal, which must not get secrets or endless lines.
    let outputIsTerminal: Bool
    /// True if standard error is a terminal, where progress can be shown.
    let diagnosticsAreTerminal: Bool
    /// True if text on a terminal can be emphasised with colours.
    private let hasColors: Bool
    /// The width of standard output for graphics, in columns; nil if it is not a terminal or shows
    /// only text.
    let graphicColumns: Int?
    /// Returns the width of standard error for a status line, in columns; nil if a status line is
    /// not possible.
    let statusColumns: () -> Int?

    package init(
        outputIsTerminal: Bool, diagnosticsAreTerminal: Bool, hasColors: Bool = false, graphicColumns: Int? = nil,
        statusColumns: @escaping () -> Int? = { nil },
        output: @escaping (String) -> Void, diagnostics: @escaping (String) -> Void,
        writeBytes: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.outputIsTerminal = outputIsTerminal
        self.diagnosticsAreTerminal = diagnosticsAreTerminal
        self.hasColors = hasColors
        self.graphicColumns = graphicColumns
        self.statusColumns = statusColumns
        self.output = output
        self.diagnostics = diagnostics
        self.writeBytes = writeBytes
    }

    /// Writes results. The text includes its line terminators.
    func write(_ text: String) { output(text) }

    /// Writes one result as a line.
    func line(_ text: String) { output(text + "\n") }

    /// Writes a table, limited to the width of a terminal.
    func write(_ table: ColumnTable) {
        var lines = table.lines(fitting: graphicColumns)
        if let heading = lines.first { lines[0] = emphasize(heading, .strong) }
        output(lines.map { $0 + "\n" }.joined())
    }

    /// Emphasises a text for standard output, if possible.
    func emphasize(_ text: String, _ emphasis: Emphasis) -> String {
        outputIsTerminal && hasColors ? emphasis.apply(to: text) : text
    }

    /// Emphasises a text for standard error, if possible.
    func emphasizeDiagnostics(_ text: String, _ emphasis: Emphasis) -> String {
        diagnosticsAreTerminal && hasColors ? emphasis.apply(to: text) : text
    }

    /// Writes one JSON object as a line, with `version` first.
    func line(_ object: JSONObject) { lines([object]) }

    /// Writes JSON objects as lines, each with `version` first.
    func lines(_ objects: [JSONObject]) {
        guard !objects.isEmpty else { return }
        output(objects.map { JSONLine.text($0) + "\n" }.joined())
    }

    /// Writes to standard error. The text includes its line terminators.
    package func writeDiagnostics(_ text: String) { diagnostics(text) }
}

extension Console {
    /// Returns the process's standard output and standard error.
    ///
    /// A pipe without a reader ends the program by SIGPIPE without a message, as in other
    /// programs.
    /// - Parameter outputFailed: called if standard output cannot be written for another reason,
    ///   after that was reported.
    package static func standard(outputFailed: @escaping () -> Void) -> Console {
        // Terminals of this type, or without a type, show only plain text.
        let term = ProcessEnvironment.value("TERM")
        let isPlain = ["", "dumb"].contains(term ?? "")
        return Console(
            outputIsTerminal: StandardStream.output.isTerminal,
            diagnosticsAreTerminal: StandardStream.error.isTerminal,
            hasColors: Emphasis.isWanted(noColor: ProcessEnvironment.value("NO_COLOR"), term: term),
            graphicColumns: isPlain ? nil : StandardStream.output.columns,
            // Query the width each time, since the window can be resized; a few terminals do not
            // report it.
            statusColumns: { isPlain || !StandardStream.error.isTerminal ? nil : StandardStream.error.columns ?? 80 },
            output: { text in
                do throws(Errno) {
                    try write(Array(text.utf8), to: .output)
                } catch {
                    try? write(Array("handoffctl: cannot write to standard output: \(error)\n".utf8), to: .error)
                    outputFailed()
                }
            },
            // Ignore other errors: there is nowhere else to report them.
            diagnostics: { text in try? write(Array(text.utf8), to: .error) },
            writeBytes: { bytes in try write(bytes, to: .output) })
    }

    private static func write(_ bytes: [UInt8], to stream: StandardStream) throws(Errno) {
        do throws(Errno) {
            try stream.write(bytes)
        } catch .brokenPipe {
            ProcessSignals.exitByBrokenPipe()
        }
    }
}

/// A line on standard error that is rewritten repeatedly, below all other output. Shows nothing
/// where that is not possible.
package final class StatusLine {
    /// Moves to the first column and clears the line (ECMA-48 EL).
    private static let erase = "\r\u{1B}[K"

    private let console: Console
    private var isShown = false

    package init(_ console: Console) {
        self.console = console
    }

    /// True if the line can be shown.
    var isPossible: Bool { console.statusColumns() != nil }

    /// Shows a text, truncated to the width of the terminal, because a wrapped line could not be
    /// cleared.
    package func show(_ text: String) {
        guard let columns = console.statusColumns() else { return }
        // Leave the last column free: some terminals wrap after it.
        console.writeDiagnostics(Self.erase + DisplayWidth.truncate(text, to: max(1, columns - 1)))
        isShown = true
    }

    /// Clears the line. Must be called before anything else is printed.
    func clear() {
        guard isShown else { return }
        console.writeDiagnostics(Self.erase)
        isShown = false
    }
}
