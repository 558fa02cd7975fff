package import HandoffJSON

/// The server's side of one Varlink connection: calls are served one after the other, in the order of their arrival.
///
/// Diagram: `docs/state-machines/varlink-server.md`.
///
/// Reading stops while `maxOutstanding` calls wait for their replies (`wantsInput`), so a client that pipelines
/// without reading costs one buffer and no more.
package struct VarlinkServerMachine: Sendable {
    /// Calls that are read ahead, the one being served included.
    package static let maxOutstanding = 4

    /// What the driver is to do, in this order, after the machine returned.
    package enum Action: Sendable, Equatable {
        /// Serve the call; answer with `reply`, `fail` or `upgrade`, now or later.
        case dispatch(VarlinkCall, VarlinkCallID)
        /// Send the bytes.
        case send([UInt8])
        /// Forget the call: its client is gone, and no answer is expected any more.
        case abandon(VarlinkCallID)
        /// Send what is still queued, and hand the connection over to the call as a raw stream.
        case upgrade(VarlinkCallID)
        /// Send what is still queued, and close the connection.
        case close(Reason)
    }

    /// Why a connection ends.
    package enum Reason: Sendable, Equatable {
        /// The client ended its side, and every call has been answered.
        case clientEnded
        /// The connection broke, or the client closed it while a call was open.
        case connectionLost
        /// The client sent something that is no call.
        case protocolViolation(VarlinkError)
        /// The client sent bytes after a call with `upgrade`, before the reply.
        case bytesAfterUpgradeCall
        /// The driver ended it: a limit, or the daemon's end.
        case ended
    }

    private enum State: Sendable {
        /// The state while no call is open.
        case idle
        /// The state while a call waits for its last reply.
        case serving(VarlinkCallID, VarlinkCall)
        /// The state once the connection has become a raw stream.
        case upgraded
        /// The state once the connection is of no more use.
        case closed
    }

    /// A call that was read ahead.
    private struct WaitingCall: Sendable {
        let call: VarlinkCall
        /// Why it is answered with an error in its turn; nil when it is dispatched.
        let problem: String?
    }

    private enum Input: Sendable {
        /// More bytes may come.
        case open
        /// The client has shut its side down; it may still read.
        case ended
    }

    private var state = State.idle
    private var input = Input.open
    private var framer = VarlinkFramer()
    private var waiting: [WaitingCall] = []
    private var lastID = VarlinkCallID(number: 0)

    /// A connection that was just accepted.
    package init() {}

    /// Whether the driver is to read from the client.
    package var wantsInput: Bool {
        switch (state, input) {
        case (.idle, .open): true
        case (.serving, .open): outstanding < Self.maxOutstanding
        case (.upgraded, .open), (.closed, .open), (_, .ended): false
        }
    }

    /// Calls that were read and not yet answered.
    package var outstanding: Int {
        switch state {
        case .serving: waiting.count + 1
        case .idle, .upgraded, .closed: 0
        }
    }

    /// Bytes came from the client.
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
        // The driver's mistake alone: with `upgrade` it gives the stream away, whose bytes it does not see any more.
        case .upgraded: preconditionFailure("bytes of an upgraded connection are not the machine's")
        case .closed: return []
        }
    }

    /// The client shut its side down; it still gets the answers to what it asked.
    package mutating func receivedEnd() -> [Action] {
        switch state {
        case .idle:
            input = .ended
            return close(.clientEnded)
        case .serving:
            input = .ended
            return []
        // As for bytes.
        case .upgraded: preconditionFailure("the end of an upgraded connection is not the machine's")
        case .closed: return []
        }
    }

    /// The connection broke, or the client is gone altogether.
    package mutating func lost() -> [Action] {
        switch state {
        case .idle, .serving: return close(.connectionLost)
        case .upgraded, .closed: return []
        }
    }

    /// The driver ends the connection; an open call is told so with the error, if there is one.
    package mutating func end(error: String? = nil, parameters: JSONObject = [:]) -> [Action] {
        switch state {
        case .idle: return close(.ended)
        case .serving(_, let call):
            guard let error, !call.oneway else { return close(.ended) }
            return [.send(VarlinkReply(error: error, parameters: parameters).encoded())] + close(.ended)
        case .upgraded, .closed: return []
        }
    }

    /// A call that came cannot be read, and so nothing behind it: it is answered with the error, or the one that is open before it.
    package mutating func refusedInput(error: String, parameters: JSONObject) -> [Action] {
        guard case .idle = state else { return end(error: error, parameters: parameters) }
        return [.send(VarlinkReply(error: error, parameters: parameters).encoded())] + close(.ended)
    }

    /// Answers the open call; with `continues`, which only a call with `more` allows, it stays open.
    ///
    /// Nothing happens when the connection is closed by now. Any other call than the open one is our own mistake.
    package mutating func reply(to id: VarlinkCallID, _ parameters: JSONObject, continues: Bool) -> [Action] {
        switch state {
        case .serving(let current, let call):
            precondition(current == id, "a reply to a call that is not open")
            precondition(!continues || call.more, "a reply that continues, to a call without 'more'")
            let reply = VarlinkReply(parameters: parameters, continues: continues)
            let sending: [Action] = call.oneway ? [] : [.send(reply.encoded())]
            return continues ? sending : sending + finish()
        case .closed: return []
        // Our own mistake, whatever the client does: a call is answered once, by its own object, which forgets the connection then.
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
        // Our own mistake, whatever the client does: a call is answered once, by its own object, which forgets the connection then.
        case .idle, .upgraded: preconditionFailure("an error while no call is open")
        }
    }

    /// Answers the open call, which has `upgrade`, and turns the connection into a raw stream.
    package mutating func upgrade(_ id: VarlinkCallID, _ parameters: JSONObject) -> [Action] {
        switch state {
        case .serving(let current, let call):
            precondition(current == id && call.upgrade, "an upgrade of a call that did not ask for it")
            state = .upgraded
            return [.send(VarlinkReply(parameters: parameters).encoded()), .upgrade(id)]
        case .closed: return []
        // Our own mistake, whatever the client does: a call is answered once, by its own object, which forgets the connection then.
        case .idle, .upgraded: preconditionFailure("an upgrade while no call is open")
        }
    }

    // MARK: - Steps

    /// Whether the last call that was read asks for an upgrade: nothing may follow it.
    private var hasUpgradeCall: Bool {
        if let last = waiting.last { return last.call.upgrade }
        if case .serving(_, let call) = state { return call.upgrade }
        return false
    }

    /// Reads calls while there is room, and opens the next one when none is open.
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

    /// Reads a call. One whose content alone is refused costs this call, and not the connection.
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

    /// Opens the next call that can be served, and answers those before it that cannot.
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
