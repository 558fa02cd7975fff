/// The state of the outgoing direction of a stream.
struct OutgoingBytes {
    /// Bytes of data sent so far.
    var count: UInt64 = 0
    /// True if the end of the direction has been sent.
    var hasEnded = false
}
