import CLinux
import Glibc

/// The process's way with signals; set up once, before any other thread starts.
package enum ProcessSignals {
    /// Blocks signals in this thread and all that it starts, so that they reach `EventLoop.signal` and nothing else, and
    /// ignores SIGPIPE: a write to a closed pipe is then an error, not the end.
    ///
    /// Programs that we start inherit the blocked set: start them through something that resets it.
    package static func prepare(blocking signals: [Int32]) throws(Errno) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        // Returns the error instead of setting errno.
        let result = pthread_sigmask(SIG_BLOCK, &set, nil)
        if result != 0 { throw Errno(rawValue: result) }
        Glibc.signal(SIGPIPE, SIG_IGN)
    }

    /// Ends the process by SIGPIPE, whether the signal is ignored, blocked or neither: a shell gets status 141.
    package static func endByBrokenPipe() -> Never {
        Glibc.signal(SIGPIPE, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(SIGPIPE)
        // The default action has ended the process already.
        exit(128 + SIGPIPE)
    }
}
