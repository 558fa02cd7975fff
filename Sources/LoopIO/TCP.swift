import CLinux
import Glibc

/// TCP connections: making them and setting them up.
package enum TCP {
    /// Connects without waiting.
    ///
    /// - Parameters:
    ///   - address: where to; a link-local IPv6 address needs its scope.
    ///   - loop: where the completion is called, never from inside this call.
    ///   - timeout: when to give up with `timedOut`; nil leaves it to the kernel (about two minutes).
    ///   - completion: called once with the connected, non-blocking socket (no delay and keep-alive are set) or an error.
    /// - Returns: the attempt; dropping or cancelling it ends it without a completion.
    package static func connect(
        to address: SocketAddress, on loop: EventLoop, timeout: Duration? = nil,
        completion: @escaping (consuming Result<Descriptor, Errno>) -> Void
    ) -> Connecting {
        Connecting(to: address, on: loop, timeout: timeout, completion: completion)
    }

    /// Bytes that were sent and that the other machine has not acknowledged: its kernel does so within milliseconds, whatever
    /// its programs do. Nil for what is no connected socket.
    package static func unacknowledged(_ descriptor: Int32) -> Int? {
        let count = clinux_unacknowledged(descriptor)
        return count < 0 ? nil : Int(count)
    }

    /// Sends small messages at once (TCP_NODELAY) and finds out about a silent peer (SO_KEEPALIVE).
    /// - Parameters:
    ///   - idle: silence after which probes start, in whole seconds.
    ///   - interval: time between probes, in whole seconds.
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

/// setsockopt(2) with a number.
func setOption(_ descriptor: Int32, _ option: clinux_option, _ value: Int32) throws(Errno) {
    try SystemCall.retrying { clinux_set_option(descriptor, Int32(option.rawValue), value) }
}
