import Glibc

/// A terminal whose settings are changed for a while. Used on one thread.
///
/// It is not made non-blocking, since others share it. The settings from before come back with `restore`, and when this is let
/// go; so a program that ends by its loop, also after a signal, leaves the terminal as it was.
final class TerminalSettings {
    let descriptor: Descriptor
    /// The settings that are to come back; nil when nothing was changed.
    private var saved: termios?

    /// Opens or duplicates a terminal.
    /// - Throws: an error of open(2) or fcntl(2): ENXIO where no terminal controls the process.
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

    /// Switches local flags off and on (termios(3)); what was typed ahead is dropped. The keys that stop and dump a program do
    /// nothing meanwhile: then nobody would be there to bring the settings back.
    /// - Throws: ENOTTY when it is no terminal.
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

    /// Brings the settings back.
    func restore() {
        guard var settings = saved else { return }
        saved = nil
        // Fails only when the terminal has gone.
        _ = tcsetattr(descriptor.raw, TCSAFLUSH, &settings)
    }

    /// What was typed; empty at the end of input, nil when somebody else who shares the terminal was faster.
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
