package import HandoffControl
package import HandoffJSON
package import LoopIO

/// A call of a client that waits for its answer. On the daemon's loop only.
///
/// Every call is to be answered once by `reply`, `fail` or `upgrade`, now or later. Answers that come too late, since
/// the client is gone or has been answered, are dropped. States: `docs/state-machines/varlink-server.md`.
package final class ControlCall {
    private enum State {
        /// The state while the call waits for its last answer.
        case open(ControlConnection, VarlinkCallID)
        /// The state once it was answered.
        case answered
        /// The state once the client is gone, or was dropped.
        case abandoned
    }

    /// The full name, such as `dev.handoff1.Attach`.
    package let method: String
    /// The parameters by name, unchecked.
    package let parameters: JSONObject
    /// Whether `replyContinuing` may be used.
    package let wantsMore: Bool
    /// Whether the client asks for `upgrade`, and may get nothing else but an error.
    package let wantsUpgrade: Bool
    /// Who asks.
    package let client: ClientIdentity
    /// Called once when the client goes before the last answer, at once if it has gone already.
    package var onClosed: (() -> Void)? {
        didSet {
            if case .abandoned = state { reportClosed() }
        }
    }

    private var state: State

    init(_ call: VarlinkCall, id: VarlinkCallID, client: ClientIdentity, connection: ControlConnection) {
        method = call.method
        parameters = call.parameters
        wantsMore = call.more
        wantsUpgrade = call.upgrade
        self.client = client
        state = .open(connection, id)
    }

    /// Whether an answer still reaches the client.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Answers with results, for the last time.
    package func reply(_ parameters: JSONObject) {
        guard case .open(let connection, let id) = state else { return }
        finish()
        connection.reply(to: id, parameters)
    }

    /// Answers with results; further answers follow. Only for a call with `wantsMore`.
    package func replyContinuing(_ parameters: JSONObject) {
        precondition(wantsMore, "a reply that continues, to a call without 'more'")
        guard case .open(let connection, let id) = state else { return }
        connection.replyContinuing(to: id, parameters)
    }

    /// Answers with an error, for the last time.
    package func fail(_ error: String, _ parameters: JSONObject = [:]) {
        guard case .open(let connection, let id) = state else { return }
        finish()
        connection.fail(id, error, parameters)
    }

    /// Answers with the standard error for parameters that cannot be read.
    package func fail(_ error: VarlinkError) {
        guard case .invalidParameter(let path) = error else {
            return fail(VarlinkService.invalidParameter, ["parameter": ""])
        }
        fail(VarlinkService.invalidParameter, ["parameter": .string(path)])
    }

    /// Answers with results, and turns the connection into a raw stream. Only for a call with `wantsUpgrade`.
    ///
    /// Some clients lose bytes that follow the reply at once: wait for the client's first byte before writing.
    /// - Returns: the stream, or nil when the client is gone.
    package func upgrade(_ parameters: JSONObject) -> UpgradedStream? {
        precondition(wantsUpgrade, "an upgrade of a call that did not ask for it")
        guard case .open(let connection, let id) = state else { return nil }
        finish()
        return connection.upgrade(id, parameters)
    }

    /// The descriptors that were passed with the call; once. More than three count as three.
    package func takePassed() -> [PassedFile] {
        guard case .open(let connection, _) = state else { return [] }
        return connection.takePassed()
    }

    /// The client is gone.
    func abandon() {
        guard case .open = state else { return }
        state = .abandoned
        reportClosed()
    }

    private func finish() {
        state = .answered
        onClosed = nil
    }

    private func reportClosed() {
        guard let report = onClosed else { return }
        onClosed = nil
        report()
    }
}
