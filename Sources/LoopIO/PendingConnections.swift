import CLinux
import Glibc

/// The connections that wait at a listening unix socket, for a process that is not going to serve them.
package enum PendingConnections {
    /// The most connections that are ended: as many as wait at a socket of a unit by default.
    private static let most = 4096
    /// Timeout for the first call of a client, in milliseconds.
    private static let patience: Int32 = 100

    /// Accepts all that wait (accept(2)), sends each the bytes once it has sent something, and closes it.
    package static func refuse(of listening: Int32, with answer: [UInt8]) {
        var scratch = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<most {
            guard isReadable(listening, within: 0) else { return }
            var storage = sockaddr_storage()
            var length = UInt32(MemoryLayout<sockaddr_storage>.size)
            let client = clinux_accept(listening, &storage, &length)
            guard client >= 0 else { return }
            if !answer.isEmpty, isReadable(client, within: patience) {
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
