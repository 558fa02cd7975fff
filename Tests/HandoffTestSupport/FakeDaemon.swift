package import HandoffControl
package import HandoffJSON
package import LoopIO

/// A Varlink service on a unix socket that replies as a test specifies. It uses the real server
/// machine, on the loop of the client under test.
package final class FakeDaemon {
    /// A call that waits for its reply.
    package final class Call {
        package let method: String
        package let parameters: JSONObject
        package let more: Bool
        /// Descriptors passed with the call or before it, except those of earlier calls.
        package let files: [PassedFile]
        private let connection: FakeConnection
        private let id: VarlinkCallID

        init(_ call: VarlinkCall, _ id: VarlinkCallID, _ connection: FakeConnection) {
            method = call.method
            parameters = call.parameters
            more = call.more
            files = connection.takePassed()
            self.connection = connection
            self.id = id
        }

        /// The method without its interface.
        package var member: String { method.split(separator: ".").last.map(String.init) ?? method }

        package func reply(_ parameters: JSONObject = [:], continues: Bool = false) {
            connection.perform { $0.reply(to: id, parameters, continues: continues) }
        }

        package func fail(_ error: String, _ parameters: JSONObject = [:]) {
            connection.perform { $0.fail(id, error: error, parameters: parameters) }
        }

        /// The connection of the call, once it is a raw stream.
        package var stream: ByteStream { connection.stream }

        /// Sends raw bytes.
        package func sendRaw(_ bytes: [UInt8]) { connection.stream.write(bytes) }

        /// Turns the connection into a raw stream. `received` gets its bytes and `ended` its end.
        package func upgrade(
            _ parameters: JSONObject = [:], received: @escaping ([UInt8], ByteStream) -> Void,
            ended: @escaping (ByteStream) -> Void
        ) {
            let stream = connection.stream
            connection.perform { $0.upgrade(id, parameters) }
            stream.onRead = { received($0, stream) }
            stream.onEnd = { ended(stream) }
        }

        /// Ends the connection after pending bytes.
        package func finish() { connection.stream.finish() }

        /// Ends the connection abruptly, as a crash does.
        package func crash() { connection.stream.close() }
    }

    /// The path of its socket.
    package let path: String
    /// The received calls, in order.
    package private(set) var log: [VarlinkCall] = []
    /// Replies to each call, now or later.
    package var onCall: (Call) -> Void = {
        $0.fail("org.varlink.service.MethodNotFound", ["method": .string($0.method)])
    }

    private let listener: Listener
    private var connections: [FakeConnection] = []

    /// Starts to listen.
    package init(path: String, loop: EventLoop) throws {
        self.path = path
        listener = try Listener(unixPath: path, on: loop)
        listener.onAccept = { [unowned self] descriptor, _ in
            guard let stream = try? ByteStream(descriptor, on: loop) else { return }
            connections.append(
                FakeConnection(stream) { [unowned self] connection, call, id in
                    log.append(call)
                    onCall(Call(call, id, connection))
                })
        }
    }

    /// Ends all connections and closes the socket, as the daemon does at its end.
    package func stop() {
        listener.close()
        for connection in connections { connection.stream.close() }
        connections = []
    }

    /// The called methods, without their interfaces.
    package var methods: [String] { log.map(\.member) }

    /// The parameters of the last call of a method.
    package func parameters(of method: String) -> JSONObject? { log.last { $0.member == method }?.parameters }
}

/// One connection of the fake daemon.
final class FakeConnection {
    let stream: ByteStream
    private var machine = VarlinkServerMachine()
    private var passed: [PassedFile] = []
    private let onCall: (FakeConnection, VarlinkCall, VarlinkCallID) -> Void

    init(_ stream: ByteStream, _ onCall: @escaping (FakeConnection, VarlinkCall, VarlinkCallID) -> Void) {
        self.stream = stream
        self.onCall = onCall
        stream.onPassed = { [weak self] in self?.passed += $0 }
        stream.onRead = { [weak self] bytes in self?.perform { $0.received(bytes) } }
        stream.onEnd = { [weak self] in self?.perform { $0.receivedEnd() } }
        stream.onError = { [weak self] _ in self?.perform { $0.lost() } }
    }

    func takePassed() -> [PassedFile] {
        defer { passed = [] }
        return passed
    }

    func perform(_ event: (inout VarlinkServerMachine) -> [VarlinkServerMachine.Action]) {
        for action in event(&machine) {
            switch action {
            case .dispatch(let call, let id): onCall(self, call, id)
            case .send(let bytes): stream.write(bytes)
            case .close: stream.finish()
            case .abandon, .upgrade: break
            }
        }
    }
}
