/// One line on standard error that is written anew again and again, below everything that was printed. Where that is not
/// possible there is none.
final class StatusLine {
    /// To the first column, and everything to the right of it cleared (ECMA-48 EL).
    private static let erase = "\r\u{1B}[K"

    private let console: Console
    private var isShown = false

    init(_ console: Console) {
        self.console = console
    }

    /// Writes it; a text that is wider than the terminal could not be cleared, so it should be short.
    func show(_ text: String) {
        guard console.diagnosticsCanRewrite else { return }
        console.writeDiagnostics(Self.erase + text)
        isShown = true
    }

    /// Takes it away; to be called before anything else is printed.
    func clear() {
        guard isShown else { return }
        console.writeDiagnostics(Self.erase)
        isShown = false
    }
}
