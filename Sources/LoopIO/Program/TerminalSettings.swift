import Glibc

/// A terminal whose settings are changed temporarily. Use it on one thread.
///
/// The terminal is not made non-blocking, because other processes share it. `restore` and deinit
/// restore the previous settings, so that a program that leaves its loop normally, also after a
/// signal, leaves the terminal unchanged.
final class TerminalSettings {
    let descriptor: Descriptor
    /// The settings to restore; nil if nothing was changed.
    private var saved: termios?

    /// Opens or duplicates a terminal.
    /// - Throws: an error of open(2) or fcntl(2): ENXIO if the process has no controlling terminal.
    init(_ place: TerminalLine.Place) throws(Errno) {
        let number = try SystemCall.retrying {
            switch place {
            case .standardInput: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            case .controlling: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
            case .descriptor(let number): fcntl(number, F_DUPFD_CLOEXEC, 0)
            }
        }
        descriptor = Descriptor(owning: number)
    }

    deinit {
        restore()
    }

    /// Clears and sets local flags (termios(3)). Input that was typed ahead is discarded. The keys
    /// for suspend and core dump are disabled until `restore`, because they would leave the
    /// settings changed.
    /// - Throws: ENOTTY if it is not a terminal.
    func change(off: Int32, on: Int32 = 0) throws(Errno) {
        var settings = termios()
        let number = descriptor.raw
        try SystemCall.retrying { tcgetattr(number, &settings) }
        let before = settings
        settings.c_lflag &= ~tcflag_t(off)
        settings.c_lflag |= tcflag_t(on)
        withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            for key in [VQUIT, VSUSP] { keys[Int(key)] = 0 }  // _POSIX_VDISABLE
        }
        try SystemCall.retrying { tcsetattr(number, TCSAFLUSH, &settings) }
        saved = saved ?? before
    }

    /// Restores the settings.
    func restore() {
        guard var settings = saved else { return }
        saved = nil
        // Fails only if the terminal no longer exists.
        _ = tcsetattr(descriptor.raw, TCSAFLUSH, &settings)
    }

    /// Returns the available input: empty at the end of input, nil if another process that shares
    /// the terminal has read it.
    /// - Throws: an error of read(2).
    func read(limit: Int) throws(Errno) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: limit)
        let number = descriptor.raw
        defer { SecretWipe.wipe(&chunk) }
        do throws(Errno) {
            let count = try SystemCall.retrying { Glibc.read(number, &chunk, chunk.count) }
            return Array(chunk[..<max(0, count)])
        } catch .wouldBlock {
            return nil
        }
    }
}
