import Foundation

/// A terminal without line mode: each key arrives when it is pressed, and is not echoed
/// (termios(3)).
struct RawMode {
    private let before: termios

    /// Turns off line mode.
    /// - Returns: nil if standard input or output is not a terminal.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 else {
            return nil
        }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    func end() {
        var settings = before
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
