import HandoffControl
import HandoffModel

/// Where a document of another device is fetched: a number in an activity that is continued here.
struct DocumentSource: Sendable {
    /// The continuation.
    let continuation: Continuation
    /// What the stream is asked for.
    let resource: StreamResource
    /// What the other device calls it, safe to show.
    let name: String

    /// The other device's name, safe to show.
    var device: String { VisibleText.escape(continuation.origin.deviceName) }
}
