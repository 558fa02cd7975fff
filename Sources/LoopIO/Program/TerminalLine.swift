import Glibc

/// One line that a person types at a terminal, read while the loop goes on with everything else.
///
/// Used on the loop's thread only. The terminal stays as it is for whoever shares it: it is not made non-blocking, and
/// an echo that was off comes back with the line, with `cancel`, and when this is let go; so a program that ends by its
/// loop, also after a signal, leaves it as it was.
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

    private let descriptor: Descriptor
    private let form: Form
    private var then: ((Result<[UInt8]?, Errno>) -> Void)?
    private var source: EventSource?
    /// The settings that are to come back; nil when nothing was changed.
    private var saved: termios?
    private var line: [UInt8] = []

    /// Begins to read.
    /// - Parameter then: gets the line without its end, nil at the end of input (Ctrl-D), or an error of read(2).
    /// - Throws: an error of open(2), tcgetattr(3) or epoll_ctl(2): ENXIO or ENOTTY when there is no terminal.
    package init(
        _ place: Place, _ form: Form, on loop: EventLoop, _ then: @escaping (Result<[UInt8]?, Errno>) -> Void
    ) throws(Errno) {
        let number = try SystemCall.retrying {
            switch place {
            case .standardInput: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            case .controlling: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
            case .descriptor(let number): fcntl(number, F_DUPFD_CLOEXEC, 0)
            }
        }
        descriptor = Descriptor(owning: number)
        self.form = form
        self.then = then
        source = try loop.watch(number, .readable) { [weak self] _ in self?.read() }
        switch form {
        case .text: break
        case .answer: try SystemCall.retrying { tcflush(number, TCIFLUSH) }
        case .secret: try hide()
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
        guard var settings = saved else { return }
        saved = nil
        // Fails only when the terminal has gone.
        _ = tcsetattr(descriptor.raw, TCSAFLUSH, &settings)
    }

    /// Turns the echo off, but for the end of the line. The keys that stop and dump a program do nothing meanwhile: then
    /// nobody would be there to bring the echo back.
    private func hide() throws(Errno) {
        var settings = termios()
        let number = descriptor.raw
        try SystemCall.retrying { tcgetattr(number, &settings) }
        let before = settings
        settings.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK)
        settings.c_lflag |= tcflag_t(ECHONL)
        withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            for key in [VQUIT, VSUSP] { keys[Int(key)] = 0 }  // _POSIX_VDISABLE
        }
        try SystemCall.retrying { tcsetattr(number, TCSAFLUSH, &settings) }
        saved = before
    }

    /// Takes what is there: a whole line, unless the terminal is in raw mode or Ctrl-D was typed amid a line.
    private func read() {
        var chunk = [UInt8](repeating: 0, count: Self.maxLine)
        let number = descriptor.raw
        do throws(Errno) {
            let count = try SystemCall.retrying { Glibc.read(number, &chunk, chunk.count) }
            guard count > 0 else { return finish(.success(line.isEmpty ? nil : line)) }
            line += chunk[..<count]
            SecretWipe.wipe(&chunk)
            guard let end = line.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else {
                return line.count > Self.maxLine ? finish(.failure(.messageTooLong)) : ()
            }
            finish(.success(Array(line[..<end])))
        } catch {
            // Somebody else who shares the terminal was faster.
            if error != .wouldBlock { finish(.failure(error)) }
        }
    }

    private func finish(_ result: Result<[UInt8]?, Errno>) {
        let report = then
        cancel()
        report?(result)
    }
}
