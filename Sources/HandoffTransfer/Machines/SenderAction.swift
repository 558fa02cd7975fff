/// What a program does for a `SenderMachine`, one after the other. When one of them fails, the program says so by `fail`.
package enum SenderAction: Equatable, Sendable {
    /// Write these bytes to the stream.
    case send([UInt8])
    /// Hash the first `length` bytes of the file, then call `prefixHashed`.
    case hashPrefix(length: Int64)
    /// Pass the file, its offset set to `offset`, to the daemon: `length` bytes of it, from 1, belong at `position` of our
    /// direction. When they are sent, call `bytesSent`.
    case sendBytes(position: Int64, offset: Int64, length: Int64)
    /// Hash the first `length` bytes, which are the whole file; it may happen while they are sent. Then look whether the
    /// source has changed, and call `contentHashed`, or `fail` once all bytes are sent.
    case hashContent(length: Int64)
    /// Give the content by `content`, as fast as the stream takes it, and then call `contentEnded`.
    case readContent
    /// End our direction (shutdown(2)), after everything is sent.
    case end
    /// The other side has the content. Nothing follows.
    case succeed
    /// It has failed: end what is running, and close the stream once everything is sent. Nothing follows.
    case fail(TransferFailure)
}
