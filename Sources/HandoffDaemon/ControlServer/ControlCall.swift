import HandoffControl
package import HandoffJSON
import LoopIO

/// A call of a client that waits for its reply. On the daemon's loop only.
///
/// Answer every call once with `reply`, `fail` or `upgrade`, now or later. Replies are dropped if
/// the client has disconnected or has been answered. States:
/// `docs/state-machines/varlink-server.md`.
package final class ControlCall {
    private enum State {
        /// The call waits for its last reply.
        case open(ControlConnection, VarlinkCallID)
        /// The call was answered.
        case answered
        /// The client disconnected or was dropped.
        case abandoned
    }

    /// The full name, such as `dev.handoff1.Attach`.
    let method: String
    /// The parameters by name, unchecked.
    let parameters: JSONObject
    /// True if `replyContinuing` may be called.
    let wantsMore: Bool
    /// True if the client requests `upgrade`; then only `upgrade` or an error may answer it.
    package let wantsUpgrade: Bool
    /// The calling client.
    let client: ClientIdentity
    /// Called once if the client disconnects before the last reply; immediately if it already has.
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

    /// True if a reply can still reach the client.
    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Sends the last reply.
    package func reply(_ parameters: JSONObject) {
        guard case .open(let connection, let id) = state else { return }
        finish()
        connection.reply(to: id, parameters)
    }

    /// Sends a reply that others follow. Only for a call with `wantsMore`.
    func replyContinuing(_ parameters: JSONObject) {
        precondition(wantsMore, "a reply that continues, to a call without 'more'")
        guard case .open(let connection, let id) = state else { return }
        connection.replyContinuing(to: id, parameters)
    }

    /// Sends an error as the last reply.
    package func fail(_ error: String, _ parameters: JSONObject = [:]) {
        guard case .open(let connection, let id) = state else { return }
        finish()
        connection.fail(id, error, parameters)
    }

    /// Sends the standard error for invalid parameters.
    func fail(_ error: VarlinkError) {
        guard case .invalidParameter(let path) = error else {
            return fail(VarlinkService.invalidParameter, ["parameter": ""])
        }
        fail(VarlinkService.invalidParameter, ["parameter": .string(path)])
    }

    /// Sends a reply and turns the connection into a raw stream. Only for a call with
    /// `wantsUpgrade`.
    ///
    /// Some clients lose bytes that immediately follow the reply: wait for the client's first byte
    /// before writing.
    /// - Returns: the stream, or nil if the client has disconnected.
    package func upgrade(_ parameters: JSONObject) -> UpgradedStream? {
        precondition(wantsUpgrade, "an upgrade of a call without 'upgrade'")
        guard case .open(let connection, let id) = state else { return nil }
        finish()
        return connection.upgrade(id, parameters)
    }

    /// Returns the descriptors passed with the call, once. More than three count as three.
    func takePassed() -> [PassedFile] {
        guard case .open(let connection, _) = state else { return [] }
        return connection.takePassed()
    }

    /// Handles the client's disconnection.
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
