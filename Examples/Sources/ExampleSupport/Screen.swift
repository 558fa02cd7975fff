/// Control sequences that draw on the whole terminal (ECMA-48, and the alternate screen of xterm).
enum Screen {
    /// Switches to the alternate screen.
    static let enter = "\u{1B}[?1049h\u{1B}[H"
    static let leave = "\u{1B}[?1049l"

    /// Draws lines from the top, and a prompt that is followed by the cursor. Lines are replaced
    /// one by one to avoid flicker.
    static func frame(_ lines: [String], prompt: String) -> String {
        "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + prompt + "\u{1B}[J"
    }
}
