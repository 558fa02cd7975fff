/// What connections to other devices may cost, and how long each step may take; tests make these small.
package struct TransportLimits: Sendable {
    /// Connections that have not said enough to pass the gate, in all: 1 KiB each, for whoever can reach the port.
    package var ungated = 128
    /// The same from one address.
    package var ungatedPerSource = 8
    /// From the TCP connection until the gate is passed, in all: bytes that drip do not extend it.
    package var gate: Duration = .seconds(1)
    /// From the gate until both sides are proved; nil when its owner ends it in time. One lost segment costs a second on a
    /// bad VPN.
    package var handshake: Duration? = .seconds(3)
    /// What the other side may leave unread before it is given up: two of the longest frames.
    package var waitingWrites = 16 * 1024 * 1024
    /// How long a connection that was closed may take to deliver its last bytes.
    package var linger: Duration = .seconds(2)
    /// The same for one that TLS or the other side has ended.
    package var alert: Duration = .seconds(2)

    /// Attempts of ours at one address that have not passed its gate: with those of streams, which are counted by
    /// themselves, what the other side takes from us.
    package var attemptsPerAddress = 4
    /// How much later the next address is tried beside those that have not answered (RFC 8305 has 250 ms for the Internet).
    package var headStart: Duration = .milliseconds(50)
    /// From the call until a connection is open.
    package var dial: Duration = .seconds(5)

    /// The limits of the protocol.
    package init() {}
}
