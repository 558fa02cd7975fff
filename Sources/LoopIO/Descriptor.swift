import CLinux
import Glibc

/// The sole owner of an open file descriptor. The descriptor is closed exactly once, at the latest
/// when the value is destroyed.
package struct Descriptor: ~Copyable {
    /// The number, for system calls. Valid as long as this value exists.
    package let raw: Int32

    /// Takes ownership of an open descriptor. No other code may close it afterwards.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        // The result is ignored: Linux has released the number whatever it is.
        _ = Glibc.close(raw)
    }

    /// Closes the descriptor now (close(2)) instead of at the end of the value's lifetime.
    package consuming func close() {}

    /// Gives up ownership. The caller must close the returned number.
    package consuming func release() -> Int32 {
        let raw = self.raw
        discard self
        return raw
    }

    /// Returns a new descriptor of the same open file (dup(2), close-on-exec).
    package func duplicate() throws(Errno) -> Descriptor {
        let raw = self.raw
        return Descriptor(owning: try SystemCall.retrying { fcntl(raw, F_DUPFD_CLOEXEC, 0) })
    }

    /// Creates two connected unix stream sockets (socketpair(2)), non-blocking.
    package static func socketPair() throws(Errno) -> DescriptorPair {
        var pair: [Int32] = [-1, -1]
        try SystemCall.retrying { clinux_socketpair(&pair) }
        return DescriptorPair(first: Descriptor(owning: pair[0]), second: Descriptor(owning: pair[1]))
    }

    /// Creates a non-blocking pipe (pipe2(2)): `first` is the read end, `second` the write end.
    package static func pipe() throws(Errno) -> DescriptorPair {
        var pair: [Int32] = [-1, -1]
        try SystemCall.retrying { clinux_pipe(&pair) }
        return DescriptorPair(first: Descriptor(owning: pair[0]), second: Descriptor(owning: pair[1]))
    }
}

/// Two related descriptors that can be moved to different owners.
@frozen
package struct DescriptorPair: ~Copyable {
    package var first: Descriptor
    package var second: Descriptor
}
