/// The reason for the end of a stream.
package enum StreamEnd: Equatable, Sendable {
    /// Both directions ended normally.
    case ended
    /// This side ended it early.
    case resetHere(StreamReset)
    /// The other side ended it early.
    case resetThere(StreamReset)
    /// The connection broke, or the other side violated the protocol. The text is for logs and
    /// people.
    case gone(String)
}

/// The outcome of a stream, and the number of bytes it carried.
package struct StreamReport: Equatable, Sendable {
    package var end: StreamEnd
    /// Bytes of data sent to the other device.
    package var sent: UInt64
    /// Bytes of data received from the other device.
    package var received: UInt64

    package init(end: StreamEnd, sent: UInt64, received: UInt64) {
        self.end = end
        self.sent = sent
        self.received = received
    }
}
