/// Resource limits for clients of the control sockets.
package struct ControlLimits: Sendable {
    /// Maximum number of connections, excluding upgraded ones.
    package var connections = 256
    /// Maximum number of these for the app socket. The rest is reserved for the user's own tools.
    var appConnections = 192
    /// Maximum number of connections of one unit, or of a process without one, to one of the
    /// sockets. A client that leaks connections leaves room for others.
    var connectionsPerGroup = 64
    /// Number of the last connections to the control socket, in total and per unit, that serve only
    /// short calls of the control interface. `status` and `doctor` thus work while apps and
    /// commands use all other connections.
    var connectionsForTools = 8
    /// Number of connections to each socket beyond these limits that are kept until their first
    /// call, which is answered with an error that names the limit.
    var refusedConnections = 16
    /// Timeout for the first call of such a connection.
    var refusedTimeout = Duration.seconds(2)
    /// Maximum number of bytes waiting for a client that does not read; equal to the longest
    /// message.
    var waitingBytes = 1_048_576
    /// Time after which a client that reads none of its waiting bytes is dropped.
    var writeTimeout = Duration.seconds(30)
    /// Time that a client of an ended connection has to read the rest.
    var closingTimeout = Duration.seconds(2)

    /// Creates the limits of the daemon.
    package init() {}
}
