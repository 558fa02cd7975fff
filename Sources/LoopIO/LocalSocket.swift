import CLinux
import Glibc

/// Operations on unix sockets whose peer may pass descriptors (SCM_RIGHTS), wanted or not.
///
/// The kernel closes passed descriptors that were not received, in the thread that reads the bytes
/// or closes the socket. That close may block for as long as the sender wants: a TCP socket may
/// linger for hours over unsent data. These calls therefore leave nothing to the kernel and close
/// everything through `DescriptorCloser`.
package enum LocalSocket {
    /// Reads like read(2), and receives the descriptors that were passed with the bytes
    /// (recvmsg(2)).
    /// - Parameter source: the peer that passes the descriptors.
    /// - Returns: the number of bytes, 0 at the end of the stream, and the files, nil if none was
    ///   passed. The files are empty if some were passed but this process has too many open files
    ///   for all: the rest would not show what the sender intended.
    /// - Throws: `tooManyReferences` if descriptors were passed while too many of this source are
    ///   waiting to be closed. They stay in the socket, and nothing more can be read from it. Close
    ///   it with `close`.
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
        var isCut: Int32 = 0
        let maxPassed = Int(CLINUX_MAX_PASSED)
        // Not an array: allocating it would be most of the time of a small read.
        let result = withUnsafeTemporaryAllocation(of: Int32.self, capacity: maxPassed) { numbers in
            var passed: Int32 = 0
            // Read no more than was peeked at: later data may carry descriptors.
            let count = Result { () throws(Errno) in
                try SystemCall.retrying {
                    clinux_receive_passed(raw, buffer.baseAddress, limit, numbers.baseAddress, &passed, &isCut)
                }
            }
            return (count, numbers.prefix(Int(passed)).map { PassedFile(Descriptor(owning: $0), from: source) })
        }
        let count = try result.0.get()
        guard !result.1.isEmpty || isCut != 0 else { return (count, nil) }
        return (count, isCut == 0 ? result.1 : [])
    }

    /// Closes a descriptor. A unix socket with unread bytes, which may carry descriptors, is closed
    /// by `DescriptorCloser`, so that this call never blocks.
    package static func close(_ descriptor: consuming Descriptor, from source: DescriptorSource = .unnamed) {
        guard clinux_end_with_unread(descriptor.raw) == 1 else { return }
        DescriptorCloser.close(descriptor, from: source)
    }
}

extension Errno {
    /// ETOOMANYREFS: too many passed descriptors are in flight.
    package static let tooManyReferences = Errno(rawValue: ETOOMANYREFS)
}
