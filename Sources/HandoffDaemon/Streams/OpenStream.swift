import HandoffControl
import HandoffModel
import HandoffStreams
import LoopIO

/// A stream that has a connection.
struct OpenStream {
    /// The phase of a stream.
    enum Phase {
        /// The other device has not presented a ticket.
        case awaitingTicket
        /// The stream was offered to an attached app that has not accepted it yet.
        case offered(to: SessionID, LoopTimer)
        /// Bytes can flow.
        case flowing
        /// Another connection is being opened because the first was not accepted. The stream has no
        /// live handle.
        case reopening
    }

    let device: DeviceID
    var handle: StreamHandle
    var relay: LoopRelay<StreamHandle.Event>
    var phase: Phase
    /// The opening, if the activity is continued here and the other device serves the stream.
    let opening: StreamOpening?
    /// The local app of the stream; nil for a command.
    var app: String?
    /// The local activity of a stream that another device has opened; nil until it presents a
    /// ticket, and for streams opened here.
    var activity: ActivityID?
    /// The client group that its memory counts for; nil while it has no memory.
    var sharer: ClientGroup?
}
