/// The client of a control connection.
package struct ClientIdentity: Sendable, Equatable {
    /// The process that connected. It may have ended since.
    package let pid: Int32
    /// Its user, which is the daemon's.
    package let uid: UInt32
    /// The group that it counts towards. Looked up when it connected, because the process id can be
    /// reused.
    package let group: ClientGroup
    /// The socket that it connected to.
    package let role: ControlRole

    package init(pid: Int32, uid: UInt32, group: ClientGroup, role: ControlRole) {
        self.pid = pid
        self.uid = uid
        self.group = group
        self.role = role
    }
}
