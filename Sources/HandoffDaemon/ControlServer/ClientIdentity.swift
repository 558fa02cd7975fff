/// The client of a control connection.
struct ClientIdentity: Sendable, Equatable {
    /// The process that connected. It may have ended since.
    let pid: Int32
    /// Its user, which is the daemon's.
    let uid: UInt32
    /// The group that it counts towards. Looked up when it connected, because the process id can be
    /// reused.
    let group: ClientGroup
    /// The socket that it connected to.
    let role: ControlRole
}
