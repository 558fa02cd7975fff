/// What a stream has sent.
struct OutgoingBytes {
    /// Bytes of data so far.
    var count: UInt64 = 0
    /// Whether the end of our direction was sent.
    var hasEnded = false
}
