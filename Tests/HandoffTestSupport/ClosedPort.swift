import Glibc
package import LoopIO

/// A TCP port that refuses connections. It stays bound, so that no other process listens on it meanwhile.
package final class ClosedPort {
    private let socket: Descriptor
    /// The port at 127.0.0.1. It is closed at all other IPv4 addresses of this machine, too.
    package let address: SocketAddress

    /// Binds any free port without listening.
    package init() throws {
        let raw = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { throw Errno.current }
        socket = Descriptor(owning: raw)
        var any = sockaddr_in()
        any.sin_family = sa_family_t(AF_INET)
        let result = withUnsafePointer(to: &any) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Errno.current }
        address = SocketAddress(.loopbackIPv4, port: try SocketAddress.local(of: raw).port)
    }
}
