import CLinux

/// The size of a terminal in characters.
package struct TerminalSize: Equatable, Sendable {
    package var rows: UInt16
    package var columns: UInt16

    package init(rows: UInt16, columns: UInt16) {
        self.rows = rows
        self.columns = columns
    }

    /// Returns the size of a terminal (TIOCGWINSZ).
    /// - Throws: ENOTTY if it is not a terminal.
    package init(of descriptor: Int32) throws(Errno) {
        var (rows, columns): (UInt16, UInt16) = (0, 0)
        try SystemCall.retrying { clinux_terminal_size(descriptor, &rows, &columns) }
        self.init(rows: rows, columns: columns)
    }

    /// Changes the size of a pseudoterminal, which signals its programs (TIOCSWINSZ).
    package func apply(to descriptor: Int32) throws(Errno) {
        try SystemCall.retrying { clinux_set_terminal_size(descriptor, rows, columns) }
    }
}
