package import HandoffJSON
import LoopIO

/// Where a command writes: results, and everything else. A value of closures, so that tests can collect what a
/// terminal would show.
package struct Console {
    /// Writes to standard output, which carries results only.
    private let output: (String) -> Void
    /// Writes to standard error, which carries everything else.
    private let diagnostics: (String) -> Void
    /// Writes bytes that are no text to standard output; for a thread that may wait.
    let writeBytes: @Sendable ([UInt8]) throws -> Void
    /// Whether standard output is a terminal, and so must not get secrets or endless lines.
    package let outputIsTerminal: Bool
    /// Whether standard error is a terminal, and so progress may be shown.
    package let diagnosticsAreTerminal: Bool
    /// Whether words on either, if it is a terminal, may stand out by colours.
    private let hasColors: Bool
    /// How many columns of graphics standard output can show; nil when it is no terminal, or one for text only.
    package let graphicColumns: Int?
    /// How many columns standard error has for a line that is written again and again; nil where that is not possible.
    package let statusColumns: () -> Int?

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

    /// Writes results; the text ends its own lines.
    package func write(_ text: String) { output(text) }

    /// Writes one result as a line.
    package func line(_ text: String) { output(text + "\n") }

    /// Writes a table; on a terminal it is as wide as that at most.
    package func write(_ table: ColumnTable) {
        var lines = table.lines(fitting: graphicColumns)
        if let heading = lines.first { lines[0] = emphasize(heading, .strong) }
        output(lines.map { $0 + "\n" }.joined())
    }

    /// A word for standard output that stands out where that is possible.
    func emphasize(_ text: String, _ emphasis: Emphasis) -> String {
        outputIsTerminal && hasColors ? emphasis.apply(to: text) : text
    }

    /// The same for standard error.
    func emphasizeDiagnostics(_ text: String, _ emphasis: Emphasis) -> String {
        diagnosticsAreTerminal && hasColors ? emphasis.apply(to: text) : text
    }

    /// Writes one JSON object as a line, with `version` first.
    package func line(_ object: JSONObject) { lines([object]) }

    /// Writes JSON objects as lines, each with `version` first.
    package func lines(_ objects: [JSONObject]) {
        guard !objects.isEmpty else { return }
        output(objects.map { JSONLine.text($0) + "\n" }.joined())
    }

    /// Writes to standard error; the text ends its own lines.
    package func writeDiagnostics(_ text: String) { diagnostics(text) }
}

extension Console {
    /// The process's own standard output and standard error.
    ///
    /// A pipe without a reader ends the program by SIGPIPE, as it does other programs; nothing is printed.
    /// - Parameter outputFailed: called when standard output cannot be written for another reason, which was printed.
    package static func standard(outputFailed: @escaping () -> Void) -> Console {
        // Terminals of this type and of none show plain text only.
        let term = ProcessEnvironment.value("TERM")
        let isPlain = ["", "dumb"].contains(term ?? "")
        return Console(
            outputIsTerminal: StandardStream.output.isTerminal,
            diagnosticsAreTerminal: StandardStream.error.isTerminal,
            hasColors: Emphasis.isWanted(noColor: ProcessEnvironment.value("NO_COLOR"), term: term),
            graphicColumns: isPlain ? nil : StandardStream.output.columns,
            // Asked each time, since the window may have another size by then; few terminals do not say it.
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
            ProcessSignals.endByBrokenPipe()
        }
    }
}

/// One line on standard error that is written anew again and again, below everything that was printed. Where that is not
/// possible there is none.
package final class StatusLine {
    /// To the first column, and everything to the right of it cleared (ECMA-48 EL).
    private static let erase = "\r\u{1B}[K"

    private let console: Console
    private var isShown = false

    package init(_ console: Console) {
        self.console = console
    }

    /// Whether there can be one.
    var isPossible: Bool { console.statusColumns() != nil }

    /// Writes it, cut at the width of the terminal: what is wider could not be cleared.
    package func show(_ text: String) {
        guard let columns = console.statusColumns() else { return }
        // In the last column some terminals begin the next line.
        console.writeDiagnostics(Self.erase + DisplayWidth.truncate(text, to: max(1, columns - 1)))
        isShown = true
    }

    /// Takes it away; to be called before anything else is printed.
    func clear() {
        guard isShown else { return }
        console.writeDiagnostics(Self.erase)
        isShown = false
    }
}
