/// Who is at the other end of a control connection.
package struct ClientIdentity: Sendable, Equatable {
    /// The process that made the connection; it may have ended since.
    package let pid: Int32
    /// Its user, which is ours.
    package let uid: UInt32
    /// With whom it is counted; looked up when it connected, since later the process may be another.
    package let group: ClientGroup
    /// The socket that it came through.
    package let role: ControlRole

    /// A client with these credentials.
    package init(pid: Int32, uid: UInt32, group: ClientGroup, role: ControlRole) {
        self.pid = pid
        self.uid = uid
        self.group = group
        self.role = role
    }
}
