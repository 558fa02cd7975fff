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
    /// How many columns of graphics standard output can show; nil when it is no terminal, or one for text only.
    package let graphicColumns: Int?
    /// Whether a line on standard error can be written again.
    package let diagnosticsCanRewrite: Bool

    package init(
        outputIsTerminal: Bool, diagnosticsAreTerminal: Bool, graphicColumns: Int? = nil,
        diagnosticsCanRewrite: Bool = false,
        output: @escaping (String) -> Void, diagnostics: @escaping (String) -> Void,
        writeBytes: @escaping @Sendable ([UInt8]) throws -> Void = { bytes in
            try StandardStream.output.write(bytes)
        }
    ) {
        self.outputIsTerminal = outputIsTerminal
        self.diagnosticsAreTerminal = diagnosticsAreTerminal
        self.graphicColumns = graphicColumns
        self.diagnosticsCanRewrite = diagnosticsCanRewrite
        self.output = output
        self.diagnostics = diagnostics
        self.writeBytes = writeBytes
    }

    /// Writes results; the text ends its own lines.
    package func write(_ text: String) { output(text) }

    /// Writes one result as a line.
    package func line(_ text: String) { output(text + "\n") }

    /// Writes one JSON object as a line, with `version` first.
    package func line(_ object: JSONObject) { output(JSONLine.text(object) + "\n") }

    /// Writes to standard error; the text ends its own lines.
    package func writeDiagnostics(_ text: String) { diagnostics(text) }
}
