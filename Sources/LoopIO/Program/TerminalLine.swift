import Glibc

/// One line that a person types at a terminal, read while the loop goes on with everything else.
///
/// Used on the loop's thread only. An echo that was off comes back with the line, with `cancel`, and when this is let go.
package final class TerminalLine {
    /// Which terminal.
    package enum Place: Sendable {
        /// Standard input, which must be one.
        case standardInput
        /// The one that controls the process, also while standard input is something else (tty(4)).
        case controlling
        /// A descriptor that stays its owner's; it is duplicated.
        case descriptor(Int32)
    }

    /// How what is typed is treated.
    package enum Form: Sendable {
        /// As usual: what was typed ahead counts.
        case text
        /// The answer to a question that was not there before: what was typed ahead is dropped.
        case answer
        /// The same, and without an echo.
        case secret
    }

    /// The longest line that a terminal hands over (N_TTY_BUF_SIZE), in bytes.
    private static let maxLine = 4096

    private let terminal: TerminalSettings
    private let form: Form
    private var then: ((Result<[UInt8]?, Errno>) -> Void)?
    private var source: EventSource?
    private var line: [UInt8] = []

    /// Begins to read.
    /// - Parameter then: gets the line without its end, nil at the end of input (Ctrl-D), or an error of read(2).
    /// - Throws: an error of open(2), tcgetattr(3) or epoll_ctl(2): ENXIO or ENOTTY when there is no terminal.
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
        // But for the end of the line.
        case .secret: try terminal.change(off: ECHO | ECHOE | ECHOK, on: ECHONL)
        }
    }

    deinit {
        cancel()
    }

    /// Stops reading, and brings the echo back. What was typed so far is dropped when it was a secret.
    package func cancel() {
        // Before the descriptor, which closes with its property.
        source?.cancel()
        source = nil
        then = nil
        SecretWipe.wipe(&line)
        terminal.restore()
    }

    /// Takes what is there: a whole line, unless the terminal is in raw mode or Ctrl-D was typed amid a line.
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
