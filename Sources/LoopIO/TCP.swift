import CLinux
import Glibc

/// Functions to connect and configure TCP sockets.
package enum TCP {
    /// Connects without blocking.
    ///
    /// - Parameters:
    ///   - address: the destination; a link-local IPv6 address needs its scope.
    ///   - loop: the loop that calls the completion, never from inside this call.
    ///   - timeout: the time after which the attempt fails with `timedOut`; nil leaves it to the
    ///     kernel (about two minutes).
    ///   - completion: called once with the connected, non-blocking socket (with TCP_NODELAY and
    ///     keep-alive set) or an error.
    /// - Returns: the attempt. Releasing or cancelling it ends it without calling the completion.
    package static func connect(
        to address: SocketAddress, on loop: EventLoop, timeout: Duration? = nil,
        completion: @escaping (consuming Result<Descriptor, Errno>) -> Void
    ) -> Connecting {
        Connecting(to: address, on: loop, timeout: timeout, completion: completion)
    }

    /// Returns the number of sent bytes that the other machine has not acknowledged, or nil if the
    /// descriptor is not a connected socket. A kernel acknowledges within milliseconds, whatever
    /// its programs do.
    package static func unacknowledged(_ descriptor: Int32) -> Int? {
        let count = clinux_unacknowledged(descriptor)
        return count < 0 ? nil : Int(count)
    }

    /// The silence after which probes start (TCP_KEEPIDLE), in seconds.
    private static let keepAliveDelay: Int32 = 30
    /// The time between probes (TCP_KEEPINTVL), in seconds.
    private static let keepAliveInterval: Int32 = 10
    /// The number of unanswered probes that end the connection (TCP_KEEPCNT).
    private static let maxKeepAliveProbes: Int32 = 3

    /// Sends small messages immediately (TCP_NODELAY) and detects a silent peer (SO_KEEPALIVE).
    package static func configure(_ descriptor: Int32) throws(Errno) {
        try setOption(descriptor, CLINUX_NO_DELAY, 1)
        try setOption(descriptor, CLINUX_KEEPALIVE, 1)
        try setOption(descriptor, CLINUX_KEEP_IDLE, keepAliveDelay)
        try setOption(descriptor, CLINUX_KEEP_INTERVAL, keepAliveInterval)
        try setOption(descriptor, CLINUX_KEEP_COUNT, maxKeepAliveProbes)
    }
}

/// Sets an integer option (setsockopt(2)).
func setOption(_ descriptor: Int32, _ option: clinux_option, _ value: Int32) throws(Errno) {
    try SystemCall.retrying { clinux_set_option(descriptor, Int32(option.rawValue), value) }
}
