import CLinux
import Glibc

/// Unix sockets whose other end may pass descriptors (SCM_RIGHTS), asked for or not.
///
/// What is passed and not taken, the kernel closes in the thread that reads the bytes or closes the socket. That may wait
/// for as long as the sender likes: a TCP socket may linger for hours over bytes that nobody takes. So these calls leave
/// nothing to the kernel; all of it goes through `DescriptorCloser`.
package enum LocalSocket {
    /// Reads as read(2) does, and takes the descriptors that were passed with the bytes (recvmsg(2)).
    /// - Parameter source: who is at the other end.
    /// - Returns: the count of bytes, 0 at the end, and the files, nil when none was passed. The files are empty when some
    ///   were passed but this process may not open so many: what is left then says nothing about what the sender meant.
    /// - Throws: `tooManyReferences` when some were passed and too many of this source wait to be closed already: they stay in the socket,
    ///   of which nothing can be read any more. Close it by `close`.
    package static func receive(
        from raw: Int32, _ source: DescriptorSource, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> (count: Int, files: [PassedFile]?) {
        var limit = buffer.count
        if !DescriptorCloser.isAccepting(from: source) {
            var hasPassed: Int32 = 0
            limit = try SystemCall.retrying { clinux_peek_passed(raw, buffer.baseAddress, buffer.count, &hasPassed) }
            guard hasPassed == 0 else { throw .tooManyReferences }
            guard limit > 0 else { return (0, nil) }
        }
        var numbers = [Int32](repeating: -1, count: Int(CLINUX_MAX_PASSED))
        var passed: Int32 = 0
        var isCut: Int32 = 0
        // No more than was looked at: what has come behind it may have descriptors.
        let count = try SystemCall.retrying {
            clinux_receive_passed(raw, buffer.baseAddress, limit, &numbers, &passed, &isCut)
        }
        guard passed > 0 || isCut != 0 else { return (count, nil) }
        let files = numbers.prefix(Int(passed)).map { PassedFile(Descriptor(owning: $0), from: source) }
        return (count, isCut == 0 ? files : [])
    }

    /// Closes a descriptor, and one of a unix socket without ever waiting: with bytes that were not read, descriptors may
    /// go that nobody has taken.
    package static func close(_ descriptor: consuming Descriptor, from source: DescriptorSource = .unnamed) {
        guard clinux_end_with_unread(descriptor.raw) == 1 else { return }
        DescriptorCloser.close(descriptor, from: source)
    }
}

extension Errno {
    /// ETOOMANYREFS: too many descriptors are on their way.
    package static let tooManyReferences = Errno(rawValue: ETOOMANYREFS)
}
