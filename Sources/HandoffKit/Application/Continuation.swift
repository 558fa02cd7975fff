import HandoffControl
import HandoffModel

/// The origin of a continued activity, and the data needed to request its streams.
struct Continuation: Sendable {
    let id: ContinuationID
    /// The device and the app that published the activity.
    let origin: Origin
    let streams: Bool
    let path: String
}
