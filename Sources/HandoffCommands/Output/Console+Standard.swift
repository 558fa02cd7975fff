import LoopIO

extension Console {
    /// The process's own standard output and standard error.
    ///
    /// - Parameter outputFailed: called when nobody reads standard output any more; the program then ends, as one whose
    ///   reader went away does.
    package static func standard(outputFailed: @escaping () -> Void) -> Console {
        // Terminals of this type and of none show plain text only.
        let isPlain = ["", "dumb"].contains(ProcessEnvironment.value("TERM") ?? "")
        return Console(
            outputIsTerminal: StandardStream.output.isTerminal,
            diagnosticsAreTerminal: StandardStream.error.isTerminal,
            graphicColumns: isPlain ? nil : StandardStream.output.columns,
            diagnosticsCanRewrite: !isPlain && StandardStream.error.isTerminal,
            output: { text in
                do throws(Errno) {
                    try StandardStream.output.write(Array(text.utf8))
                } catch {
                    // A reader that went away knows what it did; everything else is news.
                    if error != .brokenPipe {
                        let message = "handoffctl: cannot write to standard output: \(error)\n"
                        try? StandardStream.error.write(Array(message.utf8))
                    }
                    outputFailed()
                }
            },
            // There is no place left to say that nobody reads this.
            diagnostics: { text in try? StandardStream.error.write(Array(text.utf8)) })
    }
}
