package import HandoffControl
package import HandoffJSON

/// A call that waits for its last answer. On the loop's thread.
///
/// It is to be answered once by `reply` or `fail`, now or later; what comes too late is dropped.
package final class DesktopCall {
    /// The method and its parameters, unchecked.
    package let call: VarlinkCall
    /// Called once when the client goes before the last answer.
    package var onClosed: (() -> Void)?
    private let id: VarlinkCallID
    private weak var connection: DesktopConnection?

    init(_ call: VarlinkCall, _ id: VarlinkCallID, of connection: DesktopConnection) {
        self.call = call
        self.id = id
        self.connection = connection
    }

    /// Whether an answer still reaches the client.
    package var isOpen: Bool { connection != nil }

    /// Answers for the last time.
    package func reply(_ parameters: JSONObject = [:]) {
        finish()?.perform { [id] in $0.reply(to: id, parameters, continues: false) }
    }

    /// Answers; further answers follow. Only for a call with `more`.
    package func replyContinuing(_ parameters: JSONObject = [:]) {
        connection?.perform { [id] in $0.reply(to: id, parameters, continues: true) }
    }

    /// Answers with an error, for the last time.
    package func fail(_ error: String, _ parameters: JSONObject = [:]) {
        finish()?.perform { [id] in $0.fail(id, error: error, parameters: parameters) }
    }

    /// Answers with an error of the interface that has words for people.
    package func fail(_ error: DesktopErrorName, _ message: String) {
        fail(error.rawValue, ["message": .string(message)])
    }

    /// The client is gone.
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
