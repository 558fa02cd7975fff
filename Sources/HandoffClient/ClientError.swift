/// Why something that was asked of the daemon did not come about. The wording for people is the command's affair.
package enum ClientError: Error, Equatable, Sendable {
    /// No connection to the socket could be made, and why.
    case notReachable(path: String, reason: String)
    /// The socket is that of another user's process, which was told nothing.
    case foreign(path: String, user: UInt32)
    /// The daemon ended the connection before it had answered.
    case lost(path: String)
    /// The daemon sent something that is no answer to what was asked.
    case badAnswer(String)
    /// The daemon answered with an error.
    case refused(ServiceRefusal)
}
