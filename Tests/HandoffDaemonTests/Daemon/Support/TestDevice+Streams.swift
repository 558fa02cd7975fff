import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Testing

/// One end of an open stream, as an app has it.
struct TestStream {
    let id: StreamID
    /// The raw connection.
    let call: OpenCall
}

extension TestDevice {
    /// Begins to open a stream, or to take one.
    func openStream(_ request: OpenStreamRequest, upgrade: Bool = true) throws -> OpenCall {
        try open(AppMethod.openStream.rawValue, request.json, upgrade: upgrade)
    }

    /// The stream that a call gives.
    func stream(_ call: OpenCall, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> TestStream {
        let reply = try call.result(sourceLocation)
        return TestStream(id: try #require(reply["stream"]?.string.flatMap { StreamID(hex: $0) }), call: call)
    }

    /// Waits for the end of a stream.
    func awaitStream(_ id: StreamID) throws -> OpenCall {
        try open(AppMethod.awaitStream.rawValue, ["stream": .string(id.hex)])
    }

    /// How a stream ended, or is going to.
    func outcome(
        of id: StreamID, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> AwaitStreamReply {
        try AwaitStreamReply(json: awaitStream(id).result(sourceLocation))
    }

    /// Passes a file.
    func passFile(_ request: PassFileRequest, _ file: PassedFile?) throws -> OpenCall {
        try open(AppMethod.passFile.rawValue, request.json, more: true, passing: file)
    }

    /// Takes the activity that is on offer.
    func take(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> ContinuationID {
        try fleet.poll("an offer", sourceLocation) { try offers().count == 1 }
        let call = try `continue`(ContinueRequest(take: true))
        _ = try call.result(sourceLocation)
        guard case .continued(_, _, _, let id?) = try ContinueEvent(json: call.result(sourceLocation)) else {
            throw UnexpectedEvent()
        }
        return id
    }
}
