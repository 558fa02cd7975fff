package import LoopIO

/// Where a command is answered: a person at a terminal, or a program that writes to standard input. A value of closures,
/// so that tests can type.
package struct Keyboard {
    /// Gets each key that is pressed.
    package typealias KeyReport = (Result<TerminalKey, Errno>) -> Void
    /// Gets the line without its end, nil at the end of input.
    package typealias Reply = (Result<[UInt8]?, Errno>) -> Void

    /// Whether standard input is a terminal, so that somebody can be asked.
    package let isTerminal: Bool
    /// Begins to read a line that a person types; it is given up when what this returns is let go.
    package let ask: (TerminalLine.Form, EventLoop, @escaping Reply) throws(Errno) -> AnyObject
    /// Begins to read single keys without an echo; it is given up when what this returns is let go.
    let keys: (EventLoop, @escaping KeyReport) throws(Errno) -> AnyObject
    /// Waits for a line of a standard input that is no terminal; nil at its end.
    package let readLine: () throws(Errno) -> [UInt8]?
    /// Reads what is there, at most so many bytes, and nothing at the end of input; for a thread that may wait.
    let readSome: @Sendable (Int) throws -> [UInt8]

    package init(
        isTerminal: Bool, ask: @escaping (TerminalLine.Form, EventLoop, @escaping Reply) throws(Errno) -> AnyObject,
        keys: @escaping (EventLoop, @escaping KeyReport) throws(Errno) -> AnyObject,
        readLine: @escaping () throws(Errno) -> [UInt8]?,
        readSome: @escaping @Sendable (Int) throws -> [UInt8] = { limit in
            try StandardInput.readSome(limit: limit)
        }
    ) {
        self.isTerminal = isTerminal
        self.ask = ask
        self.keys = keys
        self.readLine = readLine
        self.readSome = readSome
    }

    /// The longest line that is read from a pipe, in bytes: more than any code, link or passphrase.
    private static let maxLine = 4096

    /// The process's own standard input. Secrets are asked for at the terminal that controls the process when standard
    /// input is none: it may carry an account file at the same time.
    package static var standard: Keyboard {
        let isTerminal = StandardInput.isTerminal
        return Keyboard(
            isTerminal: isTerminal,
            ask: { form, loop, reply throws(Errno) in
                try TerminalLine(isTerminal ? .standardInput : .controlling, form, on: loop, reply)
            },
            keys: { loop, report throws(Errno) in try TerminalKeys(.standardInput, on: loop, report) },
            readLine: { () throws(Errno) in try StandardInput.readLine(limit: maxLine) })
    }
}
