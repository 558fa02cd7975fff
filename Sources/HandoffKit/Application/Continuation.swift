import HandoffControl
import HandoffModel

/// Where an activity came from, and what its streams are asked for by.
struct Continuation: Sendable {
    /// Its name in the daemon.
    let id: ContinuationID
    /// The device and the app that it came from.
    let origin: Origin
    /// Whether it has continuation streams.
    let streams: Bool
    /// The daemon's socket.
    let path: String
}
