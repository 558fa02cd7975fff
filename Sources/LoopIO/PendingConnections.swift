import CLinux
import Glibc

/// The pending connections of a listening unix socket, for a process that does not serve them.
package enum PendingConnections {
    /// The maximum number of connections to close: the default backlog of a socket unit.
    private static let maxConnections = 4096
    /// The maximum wait for a client's first request, in milliseconds.
    private static let requestTimeout: Int32 = 100

    /// Accepts all pending connections (accept(2)), sends each of them `answer` after its first
    /// bytes have arrived, and closes it.
    package static func refuse(of listening: Int32, with answer: [UInt8]) {
        var scratch = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<maxConnections {
            guard isReadable(listening, within: 0) else { return }
            var storage = sockaddr_storage()
            var length = UInt32(MemoryLayout<sockaddr_storage>.size)
            let client = clinux_accept(listening, &storage, &length)
            guard client >= 0 else { return }
            if !answer.isEmpty, isReadable(client, within: requestTimeout) {
                // Unread bytes would reset the connection, and the client would lose the answer.
                while recv(client, &scratch, scratch.count, Int32(MSG_DONTWAIT)) > 0 {}
                _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            close(client)
        }
    }

    private static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}
