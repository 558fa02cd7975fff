import CLinux
import Glibc

/// The descriptor of a byte stream with the calls that sockets and pipes need: non-blocking, without SIGPIPE.
struct StreamDescriptor: ~Copyable {
    private let descriptor: Descriptor
    /// Whether it is a socket; else the end of a pipe, which has one direction only.
    let isSocket: Bool

    /// Takes over a descriptor and makes it non-blocking.
    init(_ descriptor: consuming Descriptor) throws(Errno) {
        try SystemCall.setNonBlocking(descriptor.raw)
        isSocket = clinux_socket_type(descriptor.raw) >= 0
        self.descriptor = descriptor
    }

    var raw: Int32 { descriptor.raw }

    /// Reads what has arrived, as far as the buffer takes it (read(2)).
    /// - Returns: 0 at the end of the stream.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        let raw = descriptor.raw
        return try SystemCall.retrying { Glibc.read(raw, buffer.baseAddress, buffer.count) }
    }

    /// Reads as `read` does, and takes the descriptors that were passed with the bytes (recvmsg(2), SCM_RIGHTS).
    /// - Returns: the count of bytes, and the files, nil when none was passed. The files are empty when some were passed but
    ///   this process may not open so many: what is left then says nothing about what the sender meant.
    /// - Throws: as `LocalSocket.receive`.
    func receive(
        from source: DescriptorSource, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> (count: Int, files: [PassedFile]?) {
        try LocalSocket.receive(from: descriptor.raw, source, into: buffer)
    }

    /// Hands bytes to the kernel together with descriptors, one to four, which go with the first byte (SCM_RIGHTS).
    /// - Returns: how many bytes it took, at least one.
    /// - Throws: `wouldBlock` when it takes none now; after any error nothing was sent.
    func send(_ bytes: UnsafeRawBufferPointer, passing passed: [Int32]) throws(Errno) -> Int {
        let raw = descriptor.raw
        return try SystemCall.retrying {
            clinux_send_passing(raw, bytes.baseAddress, bytes.count, passed, passed.count)
        }
    }

    /// Gives the descriptor up: the caller owns it. It stays non-blocking.
    consuming func release() -> Descriptor { descriptor }

    /// Hands bytes to the kernel (send(2) or write(2)). Returns how many it took, 0 when it takes none now.
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
        // Fails only when the connection has ended already, which reading reports.
        _ = shutdown(descriptor.raw, Int32(SHUT_WR))
    }
}
