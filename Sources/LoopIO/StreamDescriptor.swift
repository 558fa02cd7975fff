import CLinux
import Glibc

/// The descriptor of a byte stream, with the system calls for sockets and pipes: non-blocking,
/// without SIGPIPE.
struct StreamDescriptor: ~Copyable {
    private let descriptor: Descriptor
    /// True for a socket, false for one end of a pipe, which has one direction only.
    let isSocket: Bool

    /// Takes ownership of a descriptor and makes it non-blocking.
    init(_ descriptor: consuming Descriptor) throws(Errno) {
        try SystemCall.setNonBlocking(descriptor.raw)
        isSocket = clinux_socket_type(descriptor.raw) >= 0
        self.descriptor = descriptor
    }

    var raw: Int32 { descriptor.raw }

    /// Reads received bytes, up to the size of the buffer (read(2)).
    /// - Returns: the number of bytes, 0 at the end of the stream.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        let raw = descriptor.raw
        return try SystemCall.retrying { Glibc.read(raw, buffer.baseAddress, buffer.count) }
    }

    /// Reads like `read`, and receives the descriptors that were passed with the bytes (recvmsg(2),
    /// SCM_RIGHTS).
    /// - Returns: the number of bytes, and the files, nil if none was passed. The files are empty
    ///   if some were passed but this process has too many open files for all: the rest would not
    ///   show what the sender intended.
    /// - Throws: as `LocalSocket.receive`.
    func receive(
        from source: DescriptorSource, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> (count: Int, files: [PassedFile]?) {
        try LocalSocket.receive(from: descriptor.raw, source, into: buffer)
    }

    /// Passes bytes to the kernel together with one to four descriptors, which are attached to the
    /// first byte (SCM_RIGHTS).
    /// - Returns: the number of bytes it accepted, at least one.
    /// - Throws: `wouldBlock` if it accepts none now. After any error nothing was sent.
    func send(_ bytes: UnsafeRawBufferPointer, passing passed: [Int32]) throws(Errno) -> Int {
        let raw = descriptor.raw
        return try SystemCall.retrying {
            clinux_send_passing(raw, bytes.baseAddress, bytes.count, passed, passed.count)
        }
    }

    /// Releases the descriptor to the caller. It stays non-blocking.
    consuming func release() -> Descriptor { descriptor }

    /// Passes bytes to the kernel (send(2) or write(2)). Returns how many it accepted, 0 if it
    /// accepts none now.
    func send(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
        guard !bytes.isEmpty else { return 0 }
        let raw = descriptor.raw
        let isSocket = self.isSocket
        do throws(Errno) {
            return try SystemCall.retrying {
                isSocket
                    ? Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                    : Glibc.write(raw, bytes.baseAddress, bytes.count)
            }
        } catch .wouldBlock {
            return 0
        }
    }

    /// Sends the end of the stream (shutdown(2)). Not for a pipe, whose end is sent by closing it.
    func sendEnd() {
        // Fails only if the connection has already ended, which reading reports.
        _ = shutdown(descriptor.raw, Int32(SHUT_WR))
    }
}
