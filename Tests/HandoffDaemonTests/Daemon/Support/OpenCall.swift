import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Testing

/// One call on a separate control connection, through the client's machine.
final class OpenCall {
    /// The daemon replied with an error.
    struct Refused: Error {
        let name: String
        let parameters: JSONObject
    }

    let stream: ByteStream
    let fleet: Fleet
    private var machine = VarlinkClientMachine()
    private var replies: [VarlinkReply] = []
    private var bytes: [UInt8] = []
    /// The file that is passed with the first byte.
    private var passed: PassedFile?
    /// Whether the daemon has ended the connection.
    private(set) var hasEnded = false

    init(_ call: VarlinkCall, on stream: ByteStream, passing passed: PassedFile? = nil, _ fleet: Fleet) {
        self.stream = stream
        self.fleet = fleet
        self.passed = passed
        stream.onRead = { [unowned self] bytes in perform { $0.received(bytes) } }
        stream.onEnd = { [unowned self] in
            hasEnded = true
            perform { $0.receivedEnd() }
        }
        stream.onError = { [unowned self] _ in
            hasEnded = true
            perform { $0.lost() }
        }
        perform { $0.call(call).actions }
    }

    deinit {
        stream.close()
    }

    /// The number of unread replies.
    var waiting: Int { replies.count }

    /// Returns the next reply.
    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> VarlinkReply {
        try fleet.run("a reply", sourceLocation) { !replies.isEmpty || hasEnded }
        try #require(!replies.isEmpty, "the daemon ended the connection", sourceLocation: sourceLocation)
        return replies.removeFirst()
    }

    /// Returns the parameters of the next reply. Throws an error reply.
    func result(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONObject {
        let reply = try next(sourceLocation)
        if let error = reply.error { throw Refused(name: error, parameters: reply.parameters) }
        return reply.parameters
    }

    /// Returns the error that ends the call. Skips other replies.
    func refusal(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> Refused {
        while true {
            let reply = try next(sourceLocation)
            if let error = reply.error { return Refused(name: error, parameters: reply.parameters) }
            try #require(reply.continues, "answered: \(reply.parameters)", sourceLocation: sourceLocation)
        }
    }

    /// Returns the reason of a failed continuation.
    func failure(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> HandoffFailure {
        let refusal = try refusal(sourceLocation)
        try #require(
            refusal.name == ControlErrorName.continuationFailed.rawValue, "\(refusal)", sourceLocation: sourceLocation)
        return try HandoffFailure(json: refusal.parameters)
    }

    /// Returns all bytes of an upgraded connection up to its end.
    func rest(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        try fleet.run("the end of the stream", sourceLocation) { hasEnded }
        return bytes
    }

    /// Returns the next bytes of an upgraded connection.
    func read(_ count: Int, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        try fleet.run("bytes of the stream", sourceLocation) { bytes.count >= count || hasEnded }
        try #require(bytes.count >= count, "the stream ended", sourceLocation: sourceLocation)
        defer { bytes.removeFirst(count) }
        return Array(bytes[..<count])
    }

    /// Closes the connection, as if the program was killed.
    func close() { stream.close() }

    private func send(_ bytes: [UInt8]) {
        guard let descriptor = passed?.take() else {
            stream.write(bytes)
            return
        }
        do throws(Errno) {
            try stream.write(bytes, passing: descriptor)
        } catch {
            Issue.record("cannot pass: \(error)")
        }
    }

    private func perform(_ event: (inout VarlinkClientMachine) -> [VarlinkClientMachine.Action]) {
        for action in event(&machine) {
            switch action {
            case .send(let bytes): send(bytes)
            case .reply(_, let reply): replies.append(reply)
            case .upgraded(_, let reply, let first):
                replies.append(reply)
                bytes += first
                stream.onRead = { [unowned self] in
                    bytes += $0
                    fleet.loop.stop()
                }
                stream.onEnd = { [unowned self] in
                    hasEnded = true
                    fleet.loop.stop()
                }
                stream.onError = { [unowned self] _ in
                    hasEnded = true
                    fleet.loop.stop()
                }
            case .abandon: break
            case .close: hasEnded = true
            }
        }
        fleet.loop.stop()
    }
}
