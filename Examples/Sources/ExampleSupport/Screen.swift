/// What is written to a terminal to draw on all of it (ECMA-48, and the alternate screen of xterm).
enum Screen {
    /// Takes the screen, and keeps what was there.
    static let enter = "\u{1B}[?1049h\u{1B}[H"
    /// Gives it back.
    static let leave = "\u{1B}[?1049l"

    /// Draws lines from the top, and a prompt with the cursor behind them. Lines are replaced one by one, so that
    /// nothing flickers.
    static func frame(_ lines: [String], prompt: String) -> String {
        "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + prompt + "\u{1B}[J"
    }
}
