import Glibc

/// The one place that retries system calls after EINTR and converts errno to a value.
package enum SystemCall {
    /// Calls `body` until it is not interrupted by a signal.
    ///
    /// Not for close(2): on Linux the descriptor is closed even after EINTR, and a second call
    /// could close another thread's new descriptor.
    /// - Returns: the result of `body`, never negative.
    /// - Throws: errno if `body` returned a negative number.
    @discardableResult
    package static func retrying<Result: FixedWidthInteger & SignedInteger>(
        _ body: () -> Result
    ) throws(Errno) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            let error = Errno.current
            if error != .interrupted { throw error }
        }
    }

    /// Throws the error that close(2) would return: network and FUSE file systems report a full
    /// disk there. Closing any descriptor of a file has this effect, so this closes a duplicate.
    package static func flush(_ descriptor: Int32) throws(Errno) {
        let copy = try retrying { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        guard close(copy) != 0 else { return }
        // The number is released even after EINTR.
        let error = Errno.current
        if error != .interrupted { throw error }
    }

    /// Makes reads and writes of a descriptor return instead of blocking (fcntl(2), O_NONBLOCK).
    package static func setNonBlocking(_ descriptor: Int32) throws(Errno) {
        let flags = try retrying { fcntl(descriptor, F_GETFL) }
        if flags & O_NONBLOCK == 0 {
            try retrying { fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
        }
    }

    /// Closes a descriptor in programs that this process starts (fcntl(2), FD_CLOEXEC).
    static func setCloseOnExec(_ descriptor: Int32) throws(Errno) {
        try retrying { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
}
