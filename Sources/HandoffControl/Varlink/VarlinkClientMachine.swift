/// The client's side of one Varlink connection. Calls may be pipelined, and replies arrive in the
/// same order.
///
/// ```
/// open ──┬── call / send; reply / reply ──► open
///        ├── reply without error to a call with upgrade / upgraded ──► upgraded
///        └── server ended, connection lost, `end`, not a reply
///            / abandon each open call, close ──► closed
/// ```
///
/// - Replies have no ids: only the order matches them to calls. A reply without an open call,
///   `continues` without `more`, and bytes that are not a reply end the connection.
/// - A call with `oneway` waits for nothing.
/// - Bytes after the reply to an upgrade are the start of the raw stream, and are part of
///   `upgraded`.
/// - These are errors of the caller and trap: a call, `received` or `receivedEnd` after an upgrade,
///   a call after one with `upgrade`, a call after the end. `received`, `receivedEnd`, `lost` and
///   `end` in `closed`, and `lost` and `end` in `upgraded`, have no effect.
package struct VarlinkClientMachine: Sendable {
    /// An action for the driver, to be performed in order after the machine returns.
    package enum Action: Sendable, Equatable {
        /// Send the bytes.
        case send([UInt8])
        /// A reply to a call has arrived. It is the last one unless it continues.
        case reply(VarlinkCallID, VarlinkReply)
        /// The call was answered and the connection is now a raw stream, from which these bytes
        /// have already been received.
        case upgraded(VarlinkCallID, VarlinkReply, [UInt8])
        /// The call will not be answered.
        case abandon(VarlinkCallID)
        /// Close the connection.
        case close(Reason)
    }

    /// Why a connection ended.
    package enum Reason: Sendable, Equatable {
        /// The server closed the connection.
        case serverEnded
        /// The connection was lost.
        case connectionLost
        /// The server sent an invalid reply, or a reply without a call.
        case protocolViolation(VarlinkError)
        /// The client ended the connection.
        case ended
    }

    private struct Open: Sendable {
        let id: VarlinkCallID
        let more: Bool
        let upgrade: Bool
    }

    private enum State: Sendable {
        /// Calls can be sent and replies received. Contains the waiting calls, oldest first.
        case open([Open])
        /// The connection has become a raw stream.
        case upgraded
        /// The connection has ended.
        case closed
    }

    private var state = State.open([])
    private var framer = VarlinkFramer()
    private var lastID = VarlinkCallID(number: 0)

    /// Creates the machine of a new connection.
    package init() {}

    /// The number of calls that wait for a reply.
    package var outstanding: Int {
        switch state {
        case .open(let calls): calls.count
        case .upgraded, .closed: 0
        }
    }

    /// Sends a call. A call after one with `upgrade`, or on an ended connection, is a programming
    /// error.
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
        // A programming error: callers check `canCall` first.
        case .upgraded, .closed: preconditionFailure("a call on a connection that is \(state)")
        }
    }

    /// True if `call` may be called.
    package var canCall: Bool {
        switch state {
        case .open(let calls): calls.last?.upgrade != true
        case .upgraded, .closed: false
        }
    }

    /// Handles bytes from the server.
    package mutating func received(_ bytes: [UInt8]) -> [Action] {
        switch state {
        case .open:
            do throws(VarlinkError) {
                try framer.append(bytes)
            } catch {
                return close(.protocolViolation(error))
            }
            return advance()
        // Only a driver error can cause this: on `upgraded` it hands over the stream and no longer
        // reads it.
        case .upgraded: preconditionFailure("received bytes after the upgrade")
        case .closed: return []
        }
    }

    /// Handles the end of the server's side.
    package mutating func receivedEnd() -> [Action] {
        switch state {
        case .open: return close(.serverEnded)
        // As for received bytes.
        case .upgraded: preconditionFailure("received the end after the upgrade")
        case .closed: return []
        }
    }

    /// Handles the loss of the connection.
    package mutating func lost() -> [Action] {
        switch state {
        case .open: return close(.connectionLost)
        case .upgraded, .closed: return []
        }
    }

    /// Ends the connection.
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
                return actions + close(.protocolViolation(.malformed("a reply without a call")))
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
