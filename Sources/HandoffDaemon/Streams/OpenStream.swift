import HandoffControl
import HandoffControlServer
import HandoffModel
import HandoffStreams
import LoopIO

/// A stream that has a connection.
struct OpenStream {
    /// Where a stream stands.
    enum Phase {
        /// The state while the other device has not shown a ticket.
        case awaitingTicket
        /// The state while no app has taken it, and the one that was told of it is there.
        case offered(to: SessionID, LoopTimer)
        /// The state while bytes flow.
        case flowing
        /// The state while another connection is made for it, since the first was not taken. It has no live handle.
        case reopening
    }

    let device: DeviceID
    var handle: StreamHandle
    var relay: LoopRelay<StreamHandle.Event>
    var phase: Phase
    /// Who opened it, if the activity is continued here, and the other device serves the stream.
    let opening: StreamOpening?
    /// The app here at its end; nil for a command.
    var app: String?
    /// The activity of this device that another device has opened it to; nil until its ticket is shown, and for streams opened here.
    var activity: ActivityID?
    /// The client group in whose share its memory counts; nil while it has no memory.
    var sharer: ClientGroup?
}
