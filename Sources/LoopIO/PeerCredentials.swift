import CLinux

/// Who is at the other end of a unix socket, as the kernel noted it when the connection was made (SO_PEERCRED).
package struct PeerCredentials: Hashable, Sendable {
    /// The process; it may have ended since, and its number may have been given out again.
    package let pid: Int32
    /// The effective user.
    package let uid: UInt32
    /// The effective group.
    package let gid: UInt32

    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// Reads them from a connected unix socket.
    package init(of descriptor: Int32) throws(Errno) {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
        try SystemCall.retrying { clinux_peer_credentials(descriptor, &pid, &uid, &gid) }
        self.init(pid: pid, uid: uid, gid: gid)
    }
}
