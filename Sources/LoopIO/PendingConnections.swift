import CLinux
import Glibc

/// The pending connections of a listening unix socket, for a process that does not serve them.
package enum PendingConnections {
    /// The maximum number of connections to close: the default backlog of a socket unit.
    private static let maxConnections = 4096
    /// The maximum wait for a client's first request, in milliseconds.
    private static let requestTimeout: Int32 = 100
    /// The maximum wait for the first requests of all clients that send none, in milliseconds.
    private static let totalRequestTimeout: Int32 = 1000

    /// Accepts all pending connections (accept(2)), sends each of them `answer` after its first
    /// bytes have arrived, and closes it.
    /// - Parameter isReadable: waits until a descriptor is readable, at most this number of
    ///   milliseconds (poll(2)); replaced in tests.
    package static func refuse(
        of listening: Int32, with answer: [UInt8],
        isReadable: (_ descriptor: Int32, _ milliseconds: Int32) -> Bool = Self.isReadable
    ) {
        var scratch = [UInt8](repeating: 0, count: 65_536)
        var rest = totalRequestTimeout
        func hasRequest(_ client: Int32) -> Bool {
            if isReadable(client, 0) { return true }
            let timeout = min(requestTimeout, rest)
            rest -= timeout
            return timeout > 0 && isReadable(client, timeout)
        }
        for _ in 0..<maxConnections {
            guard isReadable(listening, 0) else { return }
            var storage = sockaddr_storage()
            var length = UInt32(MemoryLayout<sockaddr_storage>.size)
            let client = clinux_accept(listening, &storage, &length)
            guard client >= 0 else { return }
            if !answer.isEmpty, hasRequest(client) {
                // Unread bytes would reset the connection, and the client would lose the answer.
                while recv(client, &scratch, scratch.count, Int32(MSG_DONTWAIT)) > 0 {}
                _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            close(client)
        }
    }

    package static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}
