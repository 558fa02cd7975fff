import HandoffControl
import HandoffModel

/// The origin of a continued activity, and the data needed to request its streams.
struct Continuation: Sendable {
    /// The ID in the daemon.
    let id: ContinuationID
    /// The device and the app that published the activity.
    let origin: ControlOrigin
    /// True if the activity has continuation streams.
    let streams: Bool
    /// The daemon's socket.
    let path: String
}
