import CLinux
import Glibc

/// The only owner of an open file descriptor; it is closed exactly once, at the latest when the value ends.
package struct Descriptor: ~Copyable {
    /// The number, for system calls; valid as long as this value is.
    package let raw: Int32

    /// Takes over an open descriptor: nobody else may close it from now on.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        // The result is of no use: after any outcome Linux has released the number.
        _ = Glibc.close(raw)
    }

    /// Closes it now (close(2)); not closing has the same effect at the end of the value.
    package consuming func close() {}

    /// Gives up ownership: the caller closes the returned number.
    package consuming func release() -> Int32 {
        let raw = self.raw
        discard self
        return raw
    }

    /// A second descriptor of the same open file (dup(2), close-on-exec).
    package func duplicate() throws(Errno) -> Descriptor {
        let raw = self.raw
        return Descriptor(owning: try SystemCall.retrying { fcntl(raw, F_DUPFD_CLOEXEC, 0) })
    }

    /// Two connected unix stream sockets (socketpair(2)), non-blocking.
    package static func socketPair() throws(Errno) -> DescriptorPair {
        var pair: [Int32] = [-1, -1]
        try SystemCall.retrying { clinux_socketpair(&pair) }
        return DescriptorPair(first: Descriptor(owning: pair[0]), second: Descriptor(owning: pair[1]))
    }

    /// A pipe (pipe2(2)), non-blocking: `first` is the end to read from, `second` the end to write to.
    package static func pipe() throws(Errno) -> DescriptorPair {
        var pair: [Int32] = [-1, -1]
        try SystemCall.retrying { clinux_pipe(&pair) }
        return DescriptorPair(first: Descriptor(owning: pair[0]), second: Descriptor(owning: pair[1]))
    }
}

/// Two descriptors that belong together and are then owned apart.
@frozen
package struct DescriptorPair: ~Copyable {
    package var first: Descriptor
    package var second: Descriptor
}
