import HandoffControl
import HandoffModel

/// The source of a document on another device: a number in an activity that is continued here.
struct DocumentSource: Sendable {
    let continuation: Continuation
    /// The resource to request the stream for.
    let resource: StreamResource
    /// The other device's name for the document, escaped for display.
    let name: String

    /// The name of the other device, escaped for display.
    var device: String { VisibleText.escape(continuation.origin.deviceName) }
}
