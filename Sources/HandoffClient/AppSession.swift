/// An attachment that was made: its name, and a connection for calls in it.
package struct AppSession {
    /// What the other methods of `dev.handoff1` ask for.
    package let id: String
    /// The connection for calls; the attachment owns it.
    package let calls: ControlClient

    package init(id: String, calls: ControlClient) {
        self.id = id
        self.calls = calls
    }
}
