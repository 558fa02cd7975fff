import CLinux

/// The credentials of a unix socket's peer, as recorded by the kernel when the connection was made
/// (SO_PEERCRED).
package struct PeerCredentials: Hashable, Sendable {
    /// The process ID. The process may have ended since, and the ID may have been reused.
    package let pid: Int32
    /// The effective user ID.
    package let uid: UInt32
    /// The effective group ID.
    let gid: UInt32
}

extension PeerCredentials {
    /// Reads them from a connected unix socket.
    package init(of descriptor: Int32) throws(Errno) {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
        try SystemCall.retrying { clinux_peer_credentials(descriptor, &pid, &uid, &gid) }
        self.init(pid: pid, uid: uid, gid: gid)
    }
}
