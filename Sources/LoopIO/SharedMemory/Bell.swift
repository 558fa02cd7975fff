import Glibc

/// Wakes a process that waits for shared memory, by a byte on a unix socket.
///
/// A socket is used instead of eventfd(2) because the other process shares the open file and could
/// make our calls on an eventfd block. On a socket, each call can be made non-blocking.
package enum Bell {
    /// Sends a wake-up. Errors are ignored: if the socket's buffer is full, a wake-up is pending
    /// anyway, and if the peer has closed, none is needed.
    package static func ring(_ descriptor: Int32) {
        var byte: UInt8 = 0
        _ = Glibc.send(descriptor, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }

    /// Clears the received wake-ups.
    /// - Returns: false if the peer has closed and sends no more wake-ups.
    package static func silence(_ descriptor: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { rings in
            while true {
                let count = recv(descriptor, rings.baseAddress, rings.count, Int32(MSG_DONTWAIT))
                if count == rings.count { continue }
                return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
            }
        }
    }
}
