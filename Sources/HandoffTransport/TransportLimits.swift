/// The limits of connections to other devices, and the timeouts of each step. Tests use small
/// values.
package struct TransportLimits: Sendable {
    /// The maximum number of connections that have not passed the gate, in total: 1 KiB each, for
    /// anyone who can reach the port.
    package var maxUngated = 128
    /// The same limit for one address.
    package var maxUngatedPerSource = 8
    /// The timeout from the TCP connection until the gate is passed. Further bytes do not extend
    /// it.
    package var gateTimeout: Duration = .seconds(1)
    /// The timeout from the gate until both sides are authenticated; nil if the owner ends the
    /// connection in time. One lost segment costs a second on a bad VPN.
    package var handshakeTimeout: Duration? = .seconds(3)
    /// The maximum number of bytes that the peer may leave unread before the connection is ended:
    /// two maximum-size frames.
    package var maxPendingWrites = 16 * 1024 * 1024
    /// The maximum time for a closed connection to deliver its last bytes.
    package var lingerTimeout: Duration = .seconds(2)
    /// The same timeout for a connection that TLS or the peer has ended.
    package var alertTimeout: Duration = .seconds(2)

    /// The maximum number of outgoing attempts at one address that have not passed its gate. With
    /// those of streams, counted separately, this is the peer's limit per address.
    package var maxAttemptsPerAddress = 4
    /// The delay before the next address is tried in parallel with those that have not replied (RFC
    /// 8305 uses 250 ms for the Internet).
    package var headStart: Duration = .milliseconds(50)
    /// The timeout from the call until a connection is open.
    package var dialTimeout: Duration = .seconds(5)

    /// Creates the limits of the protocol.
    package init() {}
}
