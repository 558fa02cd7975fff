import HandoffClient
import LoopIO

// Asking the person at the terminal. Prompts go to standard error, since standard output carries results only.
extension CommandContext {
    /// Asks for a line of text.
    /// - Parameter then: gets the line without spaces around it, nil at the end of input.
    func ask(_ prompt: String, _ form: TerminalLine.Form = .text, _ then: @escaping (String?) -> Void) {
        askBytes(prompt, form) { bytes in
            then(bytes.map { Self.trimmed(String(decoding: $0, as: UTF8.self)) })
        }
    }

    /// Asks a question whose usual answer is no; only `y` and `yes` mean the other.
    func confirm(_ question: String, _ then: @escaping (Bool) -> Void) {
        ask("\(question) [y/N] ", .answer) { answer in
            then(["y", "yes"].contains(answer?.lowercased() ?? ""))
        }
    }

    /// Asks for a secret without an echo.
    /// - Parameters:
    ///   - failure: what the command fails with when there is no terminal to ask at, from the reason.
    ///   - then: gets what was typed, nil at the end of input.
    func askSecret(
        _ prompt: String, orElse failure: @escaping (String) -> CommandFailure = { .noAnswer(why: $0) },
        _ then: @escaping (SecretBuffer?) -> Void
    ) {
        askBytes(prompt, .secret, orElse: failure) { then($0.map { SecretBuffer($0) }) }
    }

    /// Gives up the question that is open, if there is one; the terminal's echo comes back.
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
                    // The end of input leaves the cursor behind the prompt.
                    if line == nil { console.writeDiagnostics("\n") }
                    then(line)
                case .failure(let error):
                    fail(failure("\(error)"))
                }
            }
            // Only now: once it is seen, the echo of a secret is off.
            console.writeDiagnostics(prompt)
        } catch {
            fail(failure("\(error)"))
        }
    }

    /// The text without spaces around it.
    static func trimmed(_ text: String) -> String {
        let isSpace = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
