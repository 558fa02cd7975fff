package import HandoffJSON

/// The server's side of one Varlink connection. Calls are served one at a time, in order of
/// arrival.
///
/// Diagram: `docs/state-machines/varlink-server.md`.
///
/// Reading stops while `maxOutstanding` calls wait for their replies (`wantsInput`), so a client
/// that pipelines without reading costs only one buffer.
package struct VarlinkServerMachine: Sendable {
    /// Number of calls that are read ahead, including the one being served.
    package static let maxOutstanding = 4

    /// An action for the driver, to be performed in order after the machine returns.
    package enum Action: Sendable, Equatable {
        /// Serve the call. Answer with `reply`, `fail` or `upgrade`, now or later.
        case dispatch(VarlinkCall, VarlinkCallID)
        /// Send the bytes.
        case send([UInt8])
        /// Drop the call: its client has disconnected, and no answer is expected.
        case abandon(VarlinkCallID)
        /// Send queued bytes, then hand the connection over to the call as a raw stream.
        case upgrade(VarlinkCallID)
        /// Send queued bytes, then close the connection.
        case close(Reason)
    }

    /// Why a connection ended.
    package enum Reason: Sendable, Equatable {
        /// The client ended its side, and every call has been answered.
        case clientEnded
        /// The connection was lost, or the client closed it while a call was open.
        case connectionLost
        /// The client sent an invalid call.
        case protocolViolation(VarlinkError)
        /// The client sent bytes after a call with `upgrade`, before the reply.
        case bytesAfterUpgradeCall
        /// The driver ended it because of a limit or the daemon's shutdown.
        case ended
    }

    private enum State: Sendable {
        /// No call is open.
        case idle
        /// A call waits for its last reply.
        case serving(VarlinkCallID, VarlinkCall)
        /// The connection has become a raw stream.
        case upgraded
        /// The connection has ended.
        case closed
    }

    /// A call that was read ahead.
    private struct WaitingCall: Sendable {
        let call: VarlinkCall
        /// The error with which it is answered in its turn, or nil if it is dispatched.
        let problem: String?
    }

    private enum Input: Sendable {
        /// More bytes may arrive.
        case open
        /// The client has shut down its side but may still read.
        case ended
    }

    private var state = State.idle
    private var input = Input.open
    private var framer = VarlinkFramer()
    private var waiting: [WaitingCall] = []
    private var lastID = VarlinkCallID(number: 0)

    /// Creates the machine of a newly accepted connection.
    package init() {}

    /// True if the driver must read from the client.
    package var wantsInput: Bool {
        switch (state, input) {
        case (.idle, .open): true
        case (.serving, .open): outstanding < Self.maxOutstanding
        case (.upgraded, .open), (.closed, .open), (_, .ended): false
        }
    }

    /// The number of calls that were read and not answered yet.
    package var outstanding: Int {
        switch state {
        case .serving: waiting.count + 1
        case .idle, .upgraded, .closed: 0
        }
    }

    /// Handles bytes from the client.
    package mutating func received(_ bytes: [UInt8]) -> [Action] {
        switch state {
        case .idle, .serving:
            if hasUpgradeCall { return bytes.isEmpty ? [] : close(.bytesAfterUpgradeCall) }
            do throws(VarlinkError) {
                try framer.append(bytes)
            } catch {
                return close(.protocolViolation(error))
            }
            return advance()
        // Only a driver error can cause this: on `upgrade` it hands over the stream and no longer
        // reads it.
        case .upgraded: preconditionFailure("received bytes after the upgrade")
        case .closed: return []
        }
    }

    /// Handles the end of the client's side. The client still receives the replies to its calls.
    package mutating func receivedEnd() -> [Action] {
        switch state {
        case .idle:
            input = .ended
            return close(.clientEnded)
        case .serving:
            input = .ended
            return []
        // As for received bytes.
        case .upgraded: preconditionFailure("received the end after the upgrade")
        case .closed: return []
        }
    }

    /// Handles the loss of the connection, or the client's closing both directions.
    package mutating func lost() -> [Action] {
        switch state {
        case .idle, .serving: return close(.connectionLost)
        case .upgraded, .closed: return []
        }
    }

    /// Ends the connection on behalf of the driver. An open call receives the error, if any.
    package mutating func end(error: String? = nil, parameters: JSONObject = [:]) -> [Action] {
        switch state {
        case .idle: return close(.ended)
        case .serving(_, let call):
            guard let error, !call.oneway else { return close(.ended) }
            return [.send(VarlinkReply(error: error, parameters: parameters).encoded())] + close(.ended)
        case .upgraded, .closed: return []
        }
    }

    /// Handles a call that cannot be read, so that no later call can be either. The error answers
    /// the open call if there is one, otherwise this call.
    package mutating func refusedInput(error: String, parameters: JSONObject) -> [Action] {
        guard case .idle = state else { return end(error: error, parameters: parameters) }
        return [.send(VarlinkReply(error: error, parameters: parameters).encoded())] + close(.ended)
    }

    /// Answers the open call. With `continues`, which only a call with `more` permits, it stays
    /// open.
    ///
    /// Does nothing if the connection has ended. Any other call than the open one is a programming
    /// error.
    package mutating func reply(to id: VarlinkCallID, _ parameters: JSONObject, continues: Bool) -> [Action] {
        switch state {
        case .serving(let current, let call):
            precondition(current == id, "a reply to a call that is not open")
            precondition(!continues || call.more, "a reply that continues, to a call without 'more'")
            let reply = VarlinkReply(parameters: parameters, continues: continues)
            let sending: [Action] = call.oneway ? [] : [.send(reply.encoded())]
            return continues ? sending : sending + finish()
        case .closed: return []
        // A programming error, whatever the client does: each call is answered once, by its own
        // object, which then drops the connection.
        case .idle, .upgraded: preconditionFailure("a reply while no call is open")
        }
    }

    /// Answers the open call with an error, which is always the last answer.
    package mutating func fail(_ id: VarlinkCallID, error: String, parameters: JSONObject) -> [Action] {
        switch state {
        case .serving(let current, let call):
            precondition(current == id, "an error to a call that is not open")
            let reply = VarlinkReply(error: error, parameters: parameters)
            let sending: [Action] = call.oneway ? [] : [.send(reply.encoded())]
            return sending + finish()
        case .closed: return []
        // A programming error, whatever the client does: each call is answered once, by its own
        // object, which then drops the connection.
        case .idle, .upgraded: preconditionFailure("an error while no call is open")
        }
    }

    /// Answers the open call, which has `upgrade`, and turns the connection into a raw stream.
    package mutating func upgrade(_ id: VarlinkCallID, _ parameters: JSONObject) -> [Action] {
        switch state {
        case .serving(let current, let call):
            precondition(current == id && call.upgrade, "an upgrade of a call without 'upgrade'")
            state = .upgraded
            return [.send(VarlinkReply(parameters: parameters).encoded()), .upgrade(id)]
        case .closed: return []
        // A programming error, whatever the client does: each call is answered once, by its own
        // object, which then drops the connection.
        case .idle, .upgraded: preconditionFailure("an upgrade while no call is open")
        }
    }

    // MARK: - Steps

    /// True if the last call that was read requests an upgrade. Nothing may follow it.
    private var hasUpgradeCall: Bool {
        if let last = waiting.last { return last.call.upgrade }
        if case .serving(_, let call) = state { return call.upgrade }
        return false
    }

    /// Reads calls while there is room, and opens the next one if none is open.
    private mutating func advance() -> [Action] {
        var actions: [Action] = []
        while waiting.count + (isServing ? 1 : 0) < Self.maxOutstanding, let message = framer.next() {
            do throws(VarlinkError) {
                waiting.append(try Self.waitingCall(message))
            } catch {
                return actions + close(.protocolViolation(error))
            }
            if hasUpgradeCall, framer.buffered > 0 {
                return actions + close(.bytesAfterUpgradeCall)
            }
            actions += openNext()
        }
        return actions
    }

    /// Decodes a call. If only its content is invalid, this call fails and not the connection.
    private static func waitingCall(_ message: [UInt8]) throws(VarlinkError) -> WaitingCall {
        do throws(VarlinkError) {
            return WaitingCall(call: try VarlinkCall(decoding: message), problem: nil)
        } catch {
            guard case .unreadable(let problem) = error, let call = VarlinkCallOutline.call(in: message) else {
                throw error
            }
            return WaitingCall(call: call, problem: problem)
        }
    }

    private var isServing: Bool {
        if case .serving = state { true } else { false }
    }

    /// Opens the next valid call, and answers the invalid ones before it.
    private mutating func openNext() -> [Action] {
        var actions: [Action] = []
        while !isServing, !waiting.isEmpty {
            let next = waiting.removeFirst()
            if let problem = next.problem {
                let parameters: JSONObject = ["parameter": "parameters", "message": .string(problem)]
                let reply = VarlinkReply(error: VarlinkService.invalidParameter, parameters: parameters)
                if !next.call.oneway { actions.append(.send(reply.encoded())) }
                continue
            }
            lastID = lastID.next
            state = .serving(lastID, next.call)
            actions.append(.dispatch(next.call, lastID))
        }
        return actions
    }

    private mutating func finish() -> [Action] {
        state = .idle
        var actions = openNext()
        actions += advance()
        if case (.idle, .ended) = (state, input) { actions += close(.clientEnded) }
        return actions
    }

    private mutating func close(_ reason: Reason) -> [Action] {
        var actions: [Action] = []
        if case .serving(let id, _) = state { actions.append(.abandon(id)) }
        state = .closed
        waiting = []
        framer = VarlinkFramer()
        actions.append(.close(reason))
        return actions
    }
}
