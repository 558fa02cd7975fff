import Glibc

/// Reads one line from a terminal while the loop continues to run.
///
/// Use it on the loop's thread only. If echo was turned off, it is restored after the line, by
/// `cancel`, and when this object is released.
package final class TerminalLine {
    /// The terminal to read from.
    package enum Place: Sendable {
        /// Standard input, which must be a terminal.
        case standardInput
        /// The controlling terminal of the process, even if standard input is not a terminal
        /// (tty(4)).
        case controlling
        /// A descriptor, which is duplicated. The owner keeps it.
        case descriptor(Int32)
    }

    /// The treatment of the input.
    package enum Form: Sendable {
        /// Normal input, including what was typed ahead.
        case text
        /// The answer to a new question: input that was typed ahead is discarded.
        case answer
        /// Like `answer`, but without echo.
        case secret
    }

    /// The maximum line length that a terminal delivers (N_TTY_BUF_SIZE), in bytes.
    private static let maxLine = 4096

    private let terminal: TerminalSettings
    private let form: Form
    private var then: ((Result<[UInt8]?, Errno>) -> Void)?
    private var source: EventSource?
    private var line: [UInt8] = []

    /// Starts reading.
    /// - Parameter then: receives the line without its terminator, nil at the end of input
    ///   (Ctrl-D), or an error of read(2).
    /// - Throws: an error of open(2), tcgetattr(3) or epoll_ctl(2): ENXIO or ENOTTY if there is no
    ///   terminal.
    package init(
        _ place: Place, _ form: Form, on loop: EventLoop, _ then: @escaping (Result<[UInt8]?, Errno>) -> Void
    ) throws(Errno) {
        terminal = try TerminalSettings(place)
        self.form = form
        self.then = then
        let number = terminal.descriptor.raw
        source = try loop.watch(number, .readable) { [weak self] _ in self?.read() }
        switch form {
        case .text: break
        case .answer: try SystemCall.retrying { tcflush(number, TCIFLUSH) }
        // Except for the end of the line.
        case .secret: try terminal.change(off: ECHO | ECHOE | ECHOK, on: ECHONL)
        }
    }

    deinit {
        cancel()
    }

    /// Stops reading, wipes the partial line, and restores echo. Input of a secret that was not
    /// read yet is discarded.
    package func cancel() {
        // Before the descriptor closes with its property.
        source?.cancel()
        source = nil
        then = nil
        SecretWipe.wipe(&line)
        terminal.restore()
    }

    /// Reads the available input: a whole line, unless the terminal is in raw mode or Ctrl-D was
    /// typed within a line.
    private func read() {
        do throws(Errno) {
            guard var chunk = try terminal.read(limit: Self.maxLine) else { return }
            guard !chunk.isEmpty else { return finish(.success(line.isEmpty ? nil : line)) }
            line += chunk
            SecretWipe.wipe(&chunk)
            guard let end = line.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else {
                return line.count > Self.maxLine ? finish(.failure(.messageTooLong)) : ()
            }
            finish(.success(Array(line[..<end])))
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<[UInt8]?, Errno>) {
        let report = then
        cancel()
        report?(result)
    }
}
