import Glibc

/// An error number of the operating system (errno(3)), as a value that can be thrown and compared.
package struct Errno: Error, RawRepresentable, Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The positive number, such as 13 for EACCES.
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The error of the system call that failed last on this thread; read it in the same stretch as the call.
    package static var current: Errno { Errno(rawValue: errno) }

    /// The system's text for the number (strerror(3)), in lower case as the fragments of our messages are.
    package var description: String {
        guard let text = strerror(rawValue) else { return "error \(rawValue)" }
        let words = String(cString: text)
        // Only a capital that starts a common word is lowered: "I/O error" stays as it is.
        guard let first = words.first, let second = words.dropFirst().first, second.isLowercase || second == " " else {
            return words
        }
        return first.lowercased() + words.dropFirst()
    }

    /// Returns a result of the sd_* family, which carry errors as negative numbers instead of in errno.
    @discardableResult
    package static func check(_ result: Int32) throws(Errno) -> Int32 {
        guard result < 0 else { return result }
        throw Errno(rawValue: 0 &- result)
    }
}

extension Errno {
    /// EACCES: the file's or folder's mode forbids it.
    package static let permissionDenied = Errno(rawValue: EACCES)
    /// EADDRINUSE: another socket has that address and port, or that path.
    package static let addressInUse = Errno(rawValue: EADDRINUSE)
    /// EADDRNOTAVAIL: no interface has that address.
    package static let addressNotAvailable = Errno(rawValue: EADDRNOTAVAIL)
    /// EAFNOSUPPORT: the kernel lacks that address family, for example IPv6.
    package static let familyNotSupported = Errno(rawValue: EAFNOSUPPORT)
    /// EPIPE: the other end no longer reads.
    package static let brokenPipe = Errno(rawValue: EPIPE)
    /// ECANCELED: the operation was called off by its owner.
    package static let cancelled = Errno(rawValue: ECANCELED)
    /// ECONNREFUSED: nobody listens there.
    package static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// ECONNRESET: the other end ended the connection without closing it properly.
    package static let connectionReset = Errno(rawValue: ECONNRESET)
    /// EEXIST: a file of that name exists.
    package static let exists = Errno(rawValue: EEXIST)
    /// EINVAL: an argument makes no sense to the kernel.
    package static let invalidArgument = Errno(rawValue: EINVAL)
    /// EINTR: a signal arrived first; `SystemCall` repeats such calls.
    package static let interrupted = Errno(rawValue: EINTR)
    /// ESRCH: there is no such process.
    package static let noSuchProcess = Errno(rawValue: ESRCH)
    /// EMSGSIZE: the datagram does not fit.
    package static let messageTooLong = Errno(rawValue: EMSGSIZE)
    /// ENAMETOOLONG: the path does not fit, 107 bytes for a unix socket.
    package static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    /// ENOENT: there is no such file.
    package static let noSuchFile = Errno(rawValue: ENOENT)
    /// ENOTSOCK: the descriptor is no socket.
    package static let notASocket = Errno(rawValue: ENOTSOCK)
    /// ETIMEDOUT: no answer came in time.
    package static let timedOut = Errno(rawValue: ETIMEDOUT)
    /// EAGAIN, which is EWOULDBLOCK on Linux: not now; the loop will tell when.
    package static let wouldBlock = Errno(rawValue: EAGAIN)
}
