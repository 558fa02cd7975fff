package import HandoffControl
package import HandoffJSON
package import LoopIO

/// A connection to the daemon's socket. Calls are answered in order, and a stream of replies
/// occupies the connection. For two concurrent operations, use two connections.
///
/// Used on the loop's thread. Handlers are called from the loop, never from within the call that
/// they were passed to. After `close`, or after the client is released, no handler is called any
/// more.
package final class ControlClient {
    /// Receives each reply to a call. The last one does not continue; a failure is always the last.
    package typealias ReplyHandler = (Result<VarlinkReply, ClientError>) -> Void
    /// Receives the connection as a raw stream, with the bytes that have already arrived.
    package typealias UpgradeHandler = (Result<RawStream, ClientError>) -> Void

    private enum Handler {
        case replies(ReplyHandler)
        case upgrade(UpgradeHandler)
    }

    /// The path of the socket.
    let path: String
    /// Called once when the connection has ended without `close`, after the open calls have failed.
    package var onEnd: (() -> Void)?
    /// Called with the name of each event that this version does not know. Such events are skipped,
    /// because a newer daemon may send them.
    package var onUnknownEvent: ((String) -> Void)?

    /// The process that created the socket: the daemon, or the service manager on its behalf. Nil
    /// for a socket that was passed in.
    private(set) var listener: PeerCredentials?

    let loop: EventLoop
    private var machine = VarlinkClientMachine()
    private var stream: ByteStream?
    private var handlers: [VarlinkCallID: Handler] = [:]

    /// Connects to a process of the same user or of root only, because the data is not meant for
    /// other users, wherever the path leads.
    /// - Parameter listener: returns the credentials of the process that listens on a connected
    ///   socket; replaced in tests.
    /// - Throws: `ClientError.notReachable`, `ClientError.foreign`.
    package convenience init(
        path: String, loop: EventLoop,
        listener: (Int32) throws(Errno) -> PeerCredentials = { raw throws(Errno) in try PeerCredentials(of: raw) }
    ) throws(ClientError) {
        var found: PeerCredentials?
        let socket = try Self.connect(to: path) { raw throws(Errno) in
            let credentials = try listener(raw)
            found = credentials
            return credentials
        }
        do throws(Errno) {
            try self.init(socket, path: path, loop: loop)
            self.listener = found
        } catch {
            throw .notReachable(path: path, reason: Self.reason(error))
        }
    }

    private static func connect(
        to path: String, _ listener: (Int32) throws(Errno) -> PeerCredentials
    ) throws(ClientError) -> Descriptor {
        let user: UInt32
        do throws(Errno) {
            let socket = try UnixSocket.connect(to: path)
            user = try listener(socket.raw).uid
            // Root may have created the socket for the daemon, and is trusted anyway.
            if user == ProcessEnvironment.userID || user == 0 { return socket }
        } catch {
            throw .notReachable(path: path, reason: reason(error))
        }
        throw .foreign(path: path, user: user)
    }

    /// Creates a client that owns a connected socket.
    /// - Parameter path: the socket's path, for messages.
    package init(_ descriptor: consuming Descriptor, path: String, loop: EventLoop) throws(Errno) {
        self.path = path
        self.loop = loop
        stream = try ByteStream(descriptor, on: loop)
        stream?.onEnd = { [weak self] in self?.step { $0.receivedEnd() } }
        stream?.onError = { [weak self] _ in self?.step { $0.lost() } }
        stream?.onRead = { [weak self] bytes in self?.step { $0.received(bytes) } }
    }

    deinit {
        close()
    }

    /// True if calls are possible: not after the end of the connection, and not after an upgrade.
    package var isOpen: Bool { stream != nil && machine.canCall }

    /// Ends the connection. Open calls are cancelled without calling their handlers.
    package func close() {
        handlers = [:]
        onEnd = nil
        stream?.close()
        stream = nil
    }

    /// Makes a call with one reply.
    package func call(_ method: String, _ parameters: JSONObject = [:], _ handler: @escaping ReplyHandler) {
        send(VarlinkCall(method: method, parameters: parameters), .replies(handler))
    }

    /// Makes a call that may have several replies (`more`).
    package func stream(_ method: String, _ parameters: JSONObject = [:], _ handler: @escaping ReplyHandler) {
        send(VarlinkCall(method: method, parameters: parameters, more: true), .replies(handler))
    }

    /// Makes a call after whose reply the connection is a raw stream.
    package func upgrade(_ method: String, _ parameters: JSONObject = [:], _ handler: @escaping UpgradeHandler) {
        send(VarlinkCall(method: method, parameters: parameters, upgrade: true), .upgrade(handler))
    }

    /// Makes a call and passes descriptors with its first byte. It must be the first call on its
    /// connection, so that no other data precedes it.
    /// - Parameters:
    ///   - numbers: the descriptors. The caller keeps ownership; needed only during this call.
    ///   - more: whether the call may have several replies.
    func call(
        _ method: String, _ parameters: JSONObject, passing numbers: [Int32], more: Bool,
        _ handler: @escaping ReplyHandler
    ) {
        let path = path
        guard isOpen, let stream else { return loop.later { handler(.failure(.lost(path: path))) } }
        let (id, actions) = machine.call(VarlinkCall(method: method, parameters: parameters, more: more))
        handlers[id] = .replies(handler)
        for case .send(let bytes) in actions {
            do throws(Errno) {
                try stream.write(bytes, passing: numbers)
            } catch {
                // Nothing was sent, and the machine would wait for a reply that never arrives.
                handlers[id] = nil
                close()
                let reason = "\(error)"
                return loop.later { handler(.failure(.notReachable(path: path, reason: reason))) }
            }
        }
    }

    private func send(_ call: VarlinkCall, _ handler: Handler) {
        guard isOpen else {
            // The connection has ended unnoticed. Reported later, like every other reply.
            let path = path
            return loop.later { Self.fail(handler, .lost(path: path)) }
        }
        let (id, actions) = machine.call(call)
        handlers[id] = handler
        perform(actions)
    }

    private func step(_ event: (inout VarlinkClientMachine) -> [VarlinkClientMachine.Action]) {
        perform(event(&machine))
    }

    private func perform(_ actions: [VarlinkClientMachine.Action]) {
        let failure = failure(in: actions)
        for action in actions {
            switch action {
            case .send(let bytes):
                stream?.write(bytes)
            case .reply(let id, let reply):
                let handler = reply.continues ? handlers[id] : handlers.removeValue(forKey: id)
                if let handler { Self.deliver(reply, to: handler) }
            case .upgraded(let id, let reply, let rest):
                guard case .upgrade(let handler)? = handlers.removeValue(forKey: id), let raw = stream else { break }
                stream = nil
                handler(.success(RawStream(raw, reply: reply.parameters, received: rest, path: path)))
            case .abandon(let id):
                if let handler = handlers.removeValue(forKey: id) { Self.fail(handler, failure) }
            case .close:
                stream?.close()
                stream = nil
                let report = onEnd
                onEnd = nil
                report?()
            }
        }
    }

    /// Returns the error for open calls when the connection ends with these actions.
    private func failure(in actions: [VarlinkClientMachine.Action]) -> ClientError {
        guard case .close(.protocolViolation(let error))? = actions.last else { return .lost(path: path) }
        return .badAnswer("\(error)")
    }

    private static func deliver(_ reply: VarlinkReply, to handler: Handler) {
        if let error = reply.error {
            fail(handler, .refused(ServiceRefusal(name: error, parameters: reply.parameters)))
        } else if case .replies(let handler) = handler {
            handler(.success(reply))
        }
    }

    private static func fail(_ handler: Handler, _ error: ClientError) {
        switch handler {
        case .replies(let handler): handler(.failure(error))
        case .upgrade(let handler): handler(.failure(error))
        }
    }

    private static func reason(_ error: Errno) -> String {
        switch error {
        case .wouldBlock: "it is too busy to accept the connection"
        case .connectionRefused: "no process is listening there"
        default: "\(error)"
        }
    }
}
