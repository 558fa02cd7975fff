/// The client's side of one Varlink connection: calls may be sent ahead, and replies come in their order.
///
/// Diagram: `docs/state-machines/varlink-client.md`.
package struct VarlinkClientMachine: Sendable {
    /// What the driver is to do, in this order, after the machine returned.
    package enum Action: Sendable, Equatable {
        /// Send the bytes.
        case send([UInt8])
        /// A reply to a call came; unless it continues, it is the last one.
        case reply(VarlinkCallID, VarlinkReply)
        /// The call was answered, and from now on the connection is a raw stream, of which these bytes came already.
        case upgraded(VarlinkCallID, VarlinkReply, [UInt8])
        /// The call gets no answer any more.
        case abandon(VarlinkCallID)
        /// Close the connection.
        case close(Reason)
    }

    /// Why a connection ends.
    package enum Reason: Sendable, Equatable {
        /// The server ended it.
        case serverEnded
        /// The connection broke.
        case connectionLost
        /// The server sent something that is no reply, or a reply that nothing asked for.
        case protocolViolation(VarlinkError)
        /// We ended it.
        case ended
    }

    private struct Open: Sendable {
        let id: VarlinkCallID
        let more: Bool
        let upgrade: Bool
    }

    private enum State: Sendable {
        /// The state while calls can be sent and replies can come; the calls that wait, oldest first.
        case open([Open])
        /// The state once the connection has become a raw stream.
        case upgraded
        /// The state once the connection is of no more use.
        case closed
    }

    private var state = State.open([])
    private var framer = VarlinkFramer()
    private var lastID = VarlinkCallID(number: 0)

    /// A connection that was just made.
    package init() {}

    /// Calls that wait for a reply.
    package var outstanding: Int {
        switch state {
        case .open(let calls): calls.count
        case .upgraded, .closed: 0
        }
    }

    /// Sends a call. A call after one with `upgrade`, or on a connection that ended, is our own mistake.
    package mutating func call(_ call: VarlinkCall) -> (id: VarlinkCallID, actions: [Action]) {
        switch state {
        case .open(var calls):
            precondition(calls.last?.upgrade != true, "a call after one with 'upgrade'")
            lastID = lastID.next
            if !call.oneway {
                calls.append(Open(id: lastID, more: call.more, upgrade: call.upgrade))
                state = .open(calls)
            }
            return (lastID, [.send(call.encoded())])
        // Our own mistake: callers look at `canCall` first.
        case .upgraded, .closed: preconditionFailure("a call on a connection that is \(state)")
        }
    }

    /// Whether `call` may be used.
    package var canCall: Bool {
        switch state {
        case .open(let calls): calls.last?.upgrade != true
        case .upgraded, .closed: false
        }
    }

    /// Bytes came from the server.
    package mutating func received(_ bytes: [UInt8]) -> [Action] {
        switch state {
        case .open:
            do throws(VarlinkError) {
                try framer.append(bytes)
            } catch {
                return close(.protocolViolation(error))
            }
            return advance()
        // The driver's mistake alone: with `upgraded` it gives the stream away, whose bytes it does not see any more.
        case .upgraded: preconditionFailure("bytes of an upgraded connection are not the machine's")
        case .closed: return []
        }
    }

    /// The server ended the connection.
    package mutating func receivedEnd() -> [Action] {
        switch state {
        case .open: return close(.serverEnded)
        // As for bytes.
        case .upgraded: preconditionFailure("the end of an upgraded connection is not the machine's")
        case .closed: return []
        }
    }

    /// The connection broke.
    package mutating func lost() -> [Action] {
        switch state {
        case .open: return close(.connectionLost)
        case .upgraded, .closed: return []
        }
    }

    /// We end the connection.
    package mutating func end() -> [Action] {
        switch state {
        case .open: return close(.ended)
        case .upgraded, .closed: return []
        }
    }

    // MARK: - Steps

    private mutating func advance() -> [Action] {
        var actions: [Action] = []
        while case .open(var calls) = state, let message = framer.next() {
            let reply: VarlinkReply
            do throws(VarlinkError) {
                reply = try VarlinkReply(decoding: message)
            } catch {
                return actions + close(.protocolViolation(error))
            }
            guard let call = calls.first else {
                return actions + close(.protocolViolation(.malformed("a reply that nothing asked for")))
            }
            if reply.continues {
                guard call.more else {
                    return actions + close(.protocolViolation(.malformed("'continues' without 'more'")))
                }
                actions.append(.reply(call.id, reply))
                continue
            }
            calls.removeFirst()
            if call.upgrade, reply.error == nil {
                state = .upgraded
                actions.append(.upgraded(call.id, reply, framer.takeRest()))
            } else {
                state = .open(calls)
                actions.append(.reply(call.id, reply))
            }
        }
        return actions
    }

    private mutating func close(_ reason: Reason) -> [Action] {
        var actions: [Action] = []
        if case .open(let calls) = state { actions = calls.map { .abandon($0.id) } }
        state = .closed
        framer = VarlinkFramer()
        actions.append(.close(reason))
        return actions
    }
}
