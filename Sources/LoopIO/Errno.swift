import Glibc

/// An operating system error number (errno(3)) that can be thrown and compared.
package struct Errno: Error, RawRepresentable, Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The positive number, such as 13 for EACCES.
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The error of the last failed system call on this thread. Read it directly after the call.
    package static var current: Errno { Errno(rawValue: errno) }

    /// The system's text for the number (strerror(3)), starting in lower case like the fragments of
    /// our messages.
    package var description: String {
        guard let text = strerror(rawValue) else { return "error \(rawValue)" }
        let words = String(cString: text)
        // Only the capital of a common word is lowered: "I/O error" stays unchanged.
        guard let first = words.first, let second = words.dropFirst().first, second.isLowercase || second == " " else {
            return words
        }
        return first.lowercased() + words.dropFirst()
    }

    /// Returns the result of an sd_* function, or throws its error, which is a negative result
    /// instead of errno.
    @discardableResult
    package static func check(_ result: Int32) throws(Errno) -> Int32 {
        guard result < 0 else { return result }
        throw Errno(rawValue: 0 &- result)
    }
}

extension Errno {
    /// EACCES: the mode of the file or folder forbids access.
    package static let permissionDenied = Errno(rawValue: EACCES)
    /// EADDRINUSE: another socket uses the address and port, or the path.
    package static let addressInUse = Errno(rawValue: EADDRINUSE)
    /// EADDRNOTAVAIL: no interface has the address.
    static let addressNotAvailable = Errno(rawValue: EADDRNOTAVAIL)
    /// EAFNOSUPPORT: the kernel does not support the address family, for example IPv6.
    static let familyNotSupported = Errno(rawValue: EAFNOSUPPORT)
    /// EPIPE: the peer no longer reads.
    package static let brokenPipe = Errno(rawValue: EPIPE)
    /// ECANCELED: the owner cancelled the operation.
    package static let cancelled = Errno(rawValue: ECANCELED)
    /// ECONNREFUSED: no socket listens at the address.
    package static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// ECONNRESET: the peer ended the connection without closing it properly.
    package static let connectionReset = Errno(rawValue: ECONNRESET)
    /// EEXIST: a file of that name exists.
    package static let exists = Errno(rawValue: EEXIST)
    /// EINVAL: the kernel rejected an argument.
    package static let invalidArgument = Errno(rawValue: EINVAL)
    /// EINTR: a signal interrupted the call. `SystemCall` retries such calls.
    static let interrupted = Errno(rawValue: EINTR)
    /// ESRCH: the process does not exist.
    static let noSuchProcess = Errno(rawValue: ESRCH)
    /// EMSGSIZE: the datagram does not fit.
    static let messageTooLong = Errno(rawValue: EMSGSIZE)
    /// ENAMETOOLONG: the path does not fit, 107 bytes for a unix socket.
    package static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    /// ENOENT: the file does not exist.
    package static let noSuchFile = Errno(rawValue: ENOENT)
    /// ENOTSOCK: the descriptor is not a socket.
    static let notASocket = Errno(rawValue: ENOTSOCK)
    /// ETIMEDOUT: no reply arrived in time.
    package static let timedOut = Errno(rawValue: ETIMEDOUT)
    /// EAGAIN, which is EWOULDBLOCK on Linux: the call would block. The loop reports when to retry.
    package static let wouldBlock = Errno(rawValue: EAGAIN)
}
