import Glibc

/// Wakes who waits for shared memory: a byte on a unix socket.
///
/// A socket and no eventfd(2): the other process has the same open file, and could make a call of ours on an eventfd wait. A socket
/// can be told for each call that it must not.
package enum Bell {
    /// Rings. A bell that has rung so often that nothing fits any more is still heard, and one whose owner is gone need not be.
    package static func ring(_ descriptor: Int32) {
        var byte: UInt8 = 0
        _ = Glibc.send(descriptor, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }

    /// Takes the rings that have come.
    /// - Returns: false when the other side has gone, and nothing rings any more.
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
