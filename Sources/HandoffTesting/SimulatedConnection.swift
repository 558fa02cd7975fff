import HandoffControl
import HandoffJSON
import LoopIO

/// A connection of an app to a simulated device. On the loop's thread.
final class SimulatedConnection {
    let stream: ByteStream
    private unowned let device: SimulatedDevice
    private var machine = VarlinkServerMachine()

    init(_ stream: ByteStream, to device: SimulatedDevice) {
        self.stream = stream
        self.device = device
        stream.onRead = { [weak self] bytes in self?.perform { $0.received(bytes) } }
        // Apps do not shut down a single direction: an app that stops writing has ended.
        stream.onEnd = { [weak self] in self?.perform { $0.lost() } }
        stream.onError = { [weak self] _ in self?.perform { $0.lost() } }
    }

    /// Closes the connection without a reply, as when a daemon ends.
    func close() {
        stream.close()
        device.ended(self)
    }

    func perform(_ event: (inout VarlinkServerMachine) -> [VarlinkServerMachine.Action]) {
        for action in event(&machine) {
            switch action {
            case .dispatch(let call, let id): device.serve(SimulatedCall(call, id, self))
            case .send(let bytes): stream.write(bytes)
            case .abandon: break
            case .upgrade: device.ended(self)
            case .close:
                stream.finish()
                device.ended(self)
            }
        }
    }
}

/// A call of an app that waits for its reply.
final class SimulatedCall {
    let method: AppMethod?
    let name: String
    let parameters: JSONObject
    let connection: SimulatedConnection
    private let id: VarlinkCallID

    init(_ call: VarlinkCall, _ id: VarlinkCallID, _ connection: SimulatedConnection) {
        name = call.method
        method = AppMethod(rawValue: call.method)
        parameters = call.parameters
        self.connection = connection
        self.id = id
    }

    func reply(_ parameters: JSONObject = [:], continues: Bool = false) {
        connection.perform { $0.reply(to: id, parameters, continues: continues) }
    }

    func fail(_ error: String, _ parameters: JSONObject = [:]) {
        connection.perform { $0.fail(id, error: error, parameters: parameters) }
    }

    /// Replies, and turns the connection into a byte stream, which the caller then owns.
    func upgrade(_ parameters: JSONObject) -> ByteStream {
        connection.perform { $0.upgrade(id, parameters) }
        return connection.stream
    }
}
