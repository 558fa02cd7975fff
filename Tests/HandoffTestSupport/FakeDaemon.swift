package import HandoffControl
package import HandoffJSON
package import LoopIO

/// A Varlink service on a unix socket that answers as a test says. It speaks the real protocol through the real
/// server machine, on the loop of the client that is tested.
package final class FakeDaemon {
    /// One call that waits for its answer.
    package final class Call {
        package let method: String
        package let parameters: JSONObject
        package let more: Bool
        /// Descriptors that came with the call or before it, and that no earlier call had.
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

        /// The connection itself, once it is a raw stream.
        package var stream: ByteStream { connection.stream }

        /// Sends bytes as they are, whatever they mean.
        package func sendRaw(_ bytes: [UInt8]) { connection.stream.write(bytes) }

        /// Makes the connection a raw stream, which gets its bytes by `received` and its end by `ended`.
        package func upgrade(
            _ parameters: JSONObject = [:], received: @escaping ([UInt8], ByteStream) -> Void,
            ended: @escaping (ByteStream) -> Void
        ) {
            let stream = connection.stream
            connection.perform { $0.upgrade(id, parameters) }
            stream.onRead = { received($0, stream) }
            stream.onEnd = { ended(stream) }
        }

        /// Ends the connection behind what was sent.
        package func finish() { connection.stream.finish() }

        /// Ends the connection without a word, as a crash does.
        package func crash() { connection.stream.close() }
    }

    /// Where it listens.
    package let path: String
    /// The calls that came, in their order.
    package private(set) var log: [VarlinkCall] = []
    /// Answers each call, now or later.
    package var onCall: (Call) -> Void = {
        $0.fail("org.varlink.service.MethodNotFound", ["method": .string($0.method)])
    }

    private let listener: Listener
    private var connections: [FakeConnection] = []

    /// Listens.
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

    /// Ends all connections and the socket, as the end of the daemon does.
    package func stop() {
        listener.close()
        for connection in connections { connection.stream.close() }
        connections = []
    }

    /// The methods that were called, without their interfaces.
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
