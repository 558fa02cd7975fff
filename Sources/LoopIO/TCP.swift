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

    /// Sends small messages immediately (TCP_NODELAY) and detects a silent peer (SO_KEEPALIVE).
    /// - Parameters:
    ///   - idle: the silence after which probes start, in whole seconds.
    ///   - interval: the time between probes, in whole seconds.
    ///   - count: unanswered probes that end the connection.
    package static func configure(
        _ descriptor: Int32, idle: Duration = .seconds(30), interval: Duration = .seconds(10), count: Int32 = 3
    ) throws(Errno) {
        try setOption(descriptor, CLINUX_NO_DELAY, 1)
        try setOption(descriptor, CLINUX_KEEPALIVE, 1)
        try setOption(descriptor, CLINUX_KEEP_IDLE, Int32(clamping: idle.components.seconds))
        try setOption(descriptor, CLINUX_KEEP_INTERVAL, Int32(clamping: interval.components.seconds))
        try setOption(descriptor, CLINUX_KEEP_COUNT, count)
    }
}

/// Sets an integer option (setsockopt(2)).
func setOption(_ descriptor: Int32, _ option: clinux_option, _ value: Int32) throws(Errno) {
    try SystemCall.retrying { clinux_set_option(descriptor, Int32(option.rawValue), value) }
}
