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
        call(AppMethod.passFile.rawValue, request.json, passing: [number], more: true) { Self.told($0, each) }
    }

    /// `ShareMemory`; it must be the first call on its connection.
    /// - Parameters:
    ///   - memory: the memory's descriptor, which stays its owner's, and is needed for the time of this call only.
    ///   - roomBell: that of the end of a socket pair by which the daemon rings, as well.
    package func shareMemory(
        _ request: ShareMemoryRequest, memory: Int32, roomBell: Int32,
        _ then: @escaping (Result<ShareMemoryReply, ClientError>) -> Void
    ) {
        call(AppMethod.shareMemory.rawValue, request.json, passing: [memory, roomBell], more: false) { result in
            then(Self.decoded(result, ShareMemoryReply.init(json:)))
        }
    }

    /// `AwaitStream`: how a stream ended, once it is over.
    package func awaitStream(_ stream: StreamID, _ then: @escaping (Result<AwaitStreamReply, ClientError>) -> Void) {
        request(AppMethod.awaitStream.rawValue, ["stream": .string(stream.hex)], then)
    }
}
