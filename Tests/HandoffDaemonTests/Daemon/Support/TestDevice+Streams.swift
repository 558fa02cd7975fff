import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Testing

/// One end of an open stream, as an app uses it.
struct TestStream {
    let id: StreamID
    /// The raw connection.
    let call: OpenCall
}

extension TestDevice {
    /// Starts opening or accepting a stream.
    func openStream(_ request: OpenStreamRequest, upgrade: Bool = true) throws -> OpenCall {
        try open(AppMethod.openStream.rawValue, request.json, upgrade: upgrade)
    }

    /// Returns the stream of a call.
    func stream(_ call: OpenCall, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> TestStream {
        let reply = try call.result(sourceLocation)
        return TestStream(id: try #require(reply["stream"]?.string.flatMap { StreamID(hex: $0) }), call: call)
    }

    /// Starts waiting for the end of a stream.
    func awaitStream(_ id: StreamID) throws -> OpenCall {
        try open(AppMethod.awaitStream.rawValue, ["stream": .string(id.hex)])
    }

    /// Returns the outcome of a stream, which may not have ended yet.
    func outcome(
        of id: StreamID, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> AwaitStreamReply {
        try AwaitStreamReply(json: awaitStream(id).result(sourceLocation))
    }

    /// Passes a file.
    func passFile(_ request: PassFileRequest, _ file: PassedFile?) throws -> OpenCall {
        try open(AppMethod.passFile.rawValue, request.json, more: true, passing: file)
    }

    /// Continues the activity on offer as a caller that receives it itself.
    func take(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> ContinuationID {
        try fleet.poll("an offer", sourceLocation) { try offers().count == 1 }
        let call = try `continue`(ContinueRequest(take: true))
        _ = try call.result(sourceLocation)
        guard case .continued(_, _, _, let id?, _) = try ContinueEvent(json: call.result(sourceLocation)) else {
            throw UnexpectedEvent()
        }
        return id
    }
}
