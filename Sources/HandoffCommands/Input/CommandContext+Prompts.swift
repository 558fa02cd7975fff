import HandoffClient
import LoopIO

// Prompts the user at the terminal. Prompts go to standard error, because standard output carries
// only results.
extension CommandContext {
    /// Prompts for a line of text.
    /// - Parameter then: receives the line without surrounding whitespace; nil at the end of input.
    func ask(_ prompt: String, _ form: TerminalLine.Form = .text, _ then: @escaping (String?) -> Void) {
        askBytes(prompt, form) { bytes in
            then(bytes.map { Self.trimmed(String(decoding: $0, as: UTF8.self)) })
        }
    }

    /// Asks a yes/no question with the default no. Only `y` and `yes` mean yes.
    func confirm(_ question: String, _ then: @escaping (Bool) -> Void) {
        ask("\(question) [y/N] ", .answer) { answer in
            then(["y", "yes"].contains(answer?.lowercased() ?? ""))
        }
    }

    /// Prompts for a secret without echo.
    /// - Parameters:
    ///   - failure: creates the command's failure if there is no terminal, from the reason.
    ///   - then: receives the typed bytes; nil at the end of input.
    func askSecret(
        _ prompt: String, orElse failure: @escaping (String) -> CommandFailure = { .noAnswer(why: $0) },
        _ then: @escaping (SecretBuffer?) -> Void
    ) {
        askBytes(prompt, .secret, orElse: failure) { then($0.map { SecretBuffer($0) }) }
    }

    /// Cancels the open prompt, if any, and restores the terminal's echo.
    func withdrawQuestion() {
        guard question != nil else { return }
        question = nil
        console.writeDiagnostics("\n")
    }

    private func askBytes(
        _ prompt: String, _ form: TerminalLine.Form,
        orElse failure: @escaping (String) -> CommandFailure = { .noAnswer(why: $0) },
        _ then: @escaping ([UInt8]?) -> Void
    ) {
        endWhenInterrupted()
        do throws(Errno) {
            question = try keyboard.ask(form, loop) { [weak self] result in
                guard let self, status == nil else { return }
                question = nil
                switch result {
                case .success(let line):
                    // At the end of input, the cursor is still on the prompt's line.
                    if line == nil { console.writeDiagnostics("\n") }
                    then(line)
                case .failure(let error):
                    fail(failure("\(error)"))
                }
            }
            // Write the prompt only now: when it is visible, the echo is already off.
            console.writeDiagnostics(prompt)
        } catch {
            fail(failure("\(error)"))
        }
    }

    /// Returns the text without surrounding whitespace.
    static func trimmed(_ text: String) -> String {
        let isSpace = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
