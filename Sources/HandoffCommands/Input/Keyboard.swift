import LoopIO

/// The source of user input: a terminal, or a program that writes to standard input. A value of
/// closures, so that tests can provide input.
package struct Keyboard {
    /// Receives each key pressed.
    typealias KeyReport = (Result<TerminalKey, Errno>) -> Void
    /// Receives the line without its terminator; nil at the end of input.
    typealias Reply = (Result<[UInt8]?, Errno>) -> Void

    /// True if standard input is a terminal, so that the user can be prompted.
    let isTerminal: Bool
    /// Starts to read a line from the terminal. Releasing the returned object cancels it.
    let ask: (TerminalLine.Form, EventLoop, @escaping Reply) throws(Errno) -> AnyObject
    /// Starts to read single keys without echo. Releasing the returned object cancels it.
    let keys: (EventLoop, @escaping KeyReport) throws(Errno) -> AnyObject
    /// Reads a line of a standard input that is not a terminal, blocking; nil at its end.
    let readLine: () throws(Errno) -> [UInt8]?
    /// Reads available bytes up to a limit, or none at the end of input. For a thread that may
    /// block.
    var readSome: @Sendable (Int) throws -> [UInt8] = { limit in try StandardInput.readSome(limit: limit) }

    /// The maximum length of a line read from a pipe, in bytes: more than any code, link or
    /// passphrase.
    private static let maxLine = 4096

    /// The process's standard input. If it is not a terminal, secrets are read from the controlling
    /// terminal, because standard input may carry an account file.
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
