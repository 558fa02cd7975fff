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
