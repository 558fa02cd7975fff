/// The side of a connection that a session plays.
package enum TLSRole: Sendable {
    /// Sends the first hello.
    case client
    /// Waits for the first hello.
    case server
}
