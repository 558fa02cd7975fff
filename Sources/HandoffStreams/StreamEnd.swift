/// How a stream ended.
package enum StreamEnd: Equatable, Sendable {
    /// Both directions ended in order.
    case ended
    /// This side ended it before its time.
    case resetHere(StreamReset)
    /// The other side ended it before its time.
    case resetThere(StreamReset)
    /// The connection broke, or the other side broke the protocol; the text is for the log and for people.
    case gone(String)
}

/// A stream is over: how, and what it carried.
package struct StreamReport: Equatable, Sendable {
    /// How it ended.
    package var end: StreamEnd
    /// Bytes of data that were sent to the other device.
    package var sent: UInt64
    /// Bytes of data that came from the other device.
    package var received: UInt64

    /// A report of these.
    package init(end: StreamEnd, sent: UInt64, received: UInt64) {
        self.end = end
        self.sent = sent
        self.received = received
    }
}
