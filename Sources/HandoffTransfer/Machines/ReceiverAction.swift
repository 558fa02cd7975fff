/// What a program does for a `ReceiverMachine`, one after the other. When one of them fails, the program says so by `fail`.
package enum ReceiverAction: Equatable, Sendable {
    /// Write these bytes to the stream.
    case send([UInt8])
    /// Open where the content shall go, hash what is there of it, and call `opened`.
    case open(TransferHeader)
    /// Keep the first `offset` bytes of what is there, drop the rest; what comes is written behind them. `length` bytes
    /// will come; nil when that is not known.
    case prepare(offset: Int64, length: Int64?)
    /// Pass the file to the daemon: `length` bytes, from 1, of the other side's direction from `position` on are for it.
    /// Call `ready` when the daemon has the call, and `bytesReceived` when they are written.
    case receiveBytes(position: Int64, length: Int64)
    /// Write these bytes where the content goes.
    case write([UInt8])
    /// Hash the first `length` bytes, which are the whole file, then call `contentHashed`.
    case hashContent(length: Int64)
    /// Store the content durably, give it its name, and call `finished`.
    case finish
    /// Delete what arrived: it is of no use, not even to go on.
    case discard
    /// End our direction (shutdown(2)), after everything is sent.
    case end
    /// The content is here. Nothing follows.
    case succeed
    /// It has failed: end what is running, and close the stream once everything is sent. Nothing follows.
    case fail(TransferFailure)
}
