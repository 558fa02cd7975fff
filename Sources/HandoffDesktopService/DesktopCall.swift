package import HandoffControl
package import HandoffJSON

/// A call that awaits its final reply. Use on the loop's thread.
///
/// Answer it once with `reply` or `fail`, immediately or later. Later replies are dropped.
package final class DesktopCall {
    /// The method and its parameters, unchecked.
    package let call: VarlinkCall
    /// Called once if the client disconnects before the final reply.
    var onClosed: (() -> Void)?
    private let id: VarlinkCallID
    private weak var connection: DesktopConnection?

    init(_ call: VarlinkCall, _ id: VarlinkCallID, of connection: DesktopConnection) {
        self.call = call
        self.id = id
        self.connection = connection
    }

    /// True if a reply can still reach the client.
    var isOpen: Bool { connection != nil }

    /// Sends the final reply.
    package func reply(_ parameters: JSONObject = [:]) {
        finish()?.perform { [id] in $0.reply(to: id, parameters, continues: false) }
    }

    /// Sends a reply that others will follow. Only for a call with `more`.
    package func replyContinuing(_ parameters: JSONObject = [:]) {
        connection?.perform { [id] in $0.reply(to: id, parameters, continues: true) }
    }

    /// Sends an error as the final reply.
    func fail(_ error: String, _ parameters: JSONObject = [:]) {
        finish()?.perform { [id] in $0.fail(id, error: error, parameters: parameters) }
    }

    /// Sends an error of the interface with a message for display.
    func fail(_ error: DesktopErrorName, _ message: String) {
        fail(error.rawValue, ["message": .string(message)])
    }

    /// Handles the disconnection of the client.
    func abandon() {
        _ = finish(keeping: true)
        let report = onClosed
        onClosed = nil
        report?()
    }

    private func finish(keeping: Bool = false) -> DesktopConnection? {
        defer { connection = nil }
        if !keeping { onClosed = nil }
        return connection
    }
}
