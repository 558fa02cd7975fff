import CLinux
import Glibc

/// The signal setup of the process. Do it once, before any other thread starts.
package enum ProcessSignals {
    /// Blocks signals in this thread and in all threads it starts, so that only `EventLoop.signal`
    /// receives them. Also ignores SIGPIPE, so that a write to a closed pipe returns an error
    /// instead of ending the process.
    ///
    /// Programs that this process starts inherit the blocked set. Start them through code that
    /// resets it.
    package static func prepare(blocking signals: [Int32]) throws(Errno) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        // Returns the error instead of setting errno.
        let result = pthread_sigmask(SIG_BLOCK, &set, nil)
        if result != 0 { throw Errno(rawValue: result) }
        Glibc.signal(SIGPIPE, SIG_IGN)
    }

    /// Undoes `prepare`, for a program that replaces this one.
    static func reset() {
        Glibc.signal(SIGPIPE, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        pthread_sigmask(SIG_SETMASK, &set, nil)
    }

    /// Ends the process by SIGPIPE, even if the signal is ignored or blocked. A shell then reports
    /// status 141.
    package static func exitByBrokenPipe() -> Never {
        Glibc.signal(SIGPIPE, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(SIGPIPE)
        // Not reached: the default action has ended the process.
        exit(128 + SIGPIPE)
    }
}
