/// Who is at the other end of a control connection.
package struct ControlClient: Sendable, Equatable {
    /// The process that made the connection; it may have ended since.
    package let pid: Int32
    /// Its user, which is ours.
    package let uid: UInt32
    /// The socket that it came through.
    package let role: ControlRole

    /// A client with these credentials.
    package init(pid: Int32, uid: UInt32, role: ControlRole) {
        self.pid = pid
        self.uid = uid
        self.role = role
    }
}
