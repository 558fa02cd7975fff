package import HandoffControl
import HandoffJSON
package import HandoffModel

// The methods of `dev.handoff1` about continuation streams.
extension ControlClient {
    /// `OpenStream`: turns this connection into a stream, which is connected when the answer comes.
    /// - Parameter then: gets the stream; a failure leaves the connection of no use.
    package func openStream(
        _ request: OpenStreamRequest, _ then: @escaping (Result<ContinuationStream, ClientError>) -> Void
    ) {
        let path = path
        let loop = loop
        upgrade(AppMethod.openStream.rawValue, request.json) { result in
            switch result {
            case .failure(let error): then(.failure(error))
            case .success(let raw):
                do throws(VarlinkError) {
                    let id: StreamID = try Fields(raw.reply).value("stream")
                    then(.success(ContinuationStream(raw, id, path: path, loop: loop)))
                } catch {
                    then(.failure(.badAnswer("\(error)")))
                }
            }
        }
    }

    /// `PassFile`, with replies meanwhile; it must be the first call on its connection. A failure is always the last.
    /// - Parameter number: the file, which stays its owner's, and is needed for the time of this call only.
    package func passFile(
        _ request: PassFileRequest, descriptor number: Int32,
        _ each: @escaping (Result<PassFileReply, ClientError>, _ isLast: Bool) -> Void
    ) {
        stream(AppMethod.passFile.rawValue, request.json, passing: number) { result in Self.told(result, each) }
    }

    /// `AwaitStream`: how a stream ended, once it is over.
    package func awaitStream(_ stream: StreamID, _ then: @escaping (Result<AwaitStreamReply, ClientError>) -> Void) {
        request(AppMethod.awaitStream.rawValue, ["stream": .string(stream.hex)], then)
    }
}
