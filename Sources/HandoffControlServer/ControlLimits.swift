/// What clients of the control sockets may cost.
package struct ControlLimits: Sendable {
    /// Connections in all; upgraded ones are not counted any more.
    package var connections = 256
    /// How many of them may be those of the app socket: the rest is kept for the user's own tools.
    package var appConnections = 192
    /// Connections of one unit, or of a process without one, to one of the sockets: who leaks them leaves room for the others.
    package var connectionsPerGroup = 64
    /// Number of the last connections to the control socket, of all and of one unit, serve short calls of the control interface
    /// alone, so that `status` and `doctor` work while apps and commands have all others.
    package var connectionsForTools = 8
    /// Number of connections to each socket beyond these limits that are kept until their first call, which is answered with an
    /// error that names the limit.
    package var refusedConnections = 16
    /// Timeout for the call of such a connection.
    package var refusedTimeout = Duration.seconds(2)
    /// Bytes that may wait for a client that does not read; as much as the longest message.
    package var waitingBytes = 1_048_576
    /// How long a client may take no byte of what waits for it.
    package var writeTimeout = Duration.seconds(30)
    /// How long a connection that was ended may take to read the rest.
    package var closingTimeout = Duration.seconds(2)

    /// The limits of the daemon.
    package init() {}
}
