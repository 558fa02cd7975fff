package import HandoffControl
import HandoffJSON
import HandoffModel

// The methods of `dev.handoff1` about continuation streams.
extension ControlClient {
    /// Calls `OpenStream`, which upgrades this connection to a stream. The stream is connected when
    /// the reply arrives.
    /// - Parameter then: receives the stream. After a failure the connection is unusable.
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

    /// Calls `PassFile`, with progress replies. It must be the first call on its connection. A
    /// failure is always the last report.
    /// - Parameter number: the file's descriptor. The caller keeps ownership; needed only during
    ///   this call.
    func passFile(
        _ request: PassFileRequest, descriptor number: Int32,
        _ each: @escaping (Result<PassFileReply, ClientError>, _ isLast: Bool) -> Void
    ) {
        call(AppMethod.passFile.rawValue, request.json, passing: [number], more: true) { Self.forward($0, each) }
    }

    /// Calls `ShareMemory`. It must be the first call on its connection.
    /// - Parameters:
    ///   - memory: the memory's descriptor. The caller keeps ownership; needed only during this
    ///     call.
    ///   - roomBell: the daemon's end of a socket pair, on which it signals space. Same ownership.
    package func shareMemory(
        _ request: ShareMemoryRequest, memory: Int32, roomBell: Int32,
        _ then: @escaping (Result<ShareMemoryReply, ClientError>) -> Void
    ) {
        call(AppMethod.shareMemory.rawValue, request.json, passing: [memory, roomBell], more: false) { result in
            then(Self.decoded(result, ShareMemoryReply.init(json:)))
        }
    }

    /// Calls `AwaitStream`, which reports how a stream ended, after it has ended.
    func awaitStream(_ stream: StreamID, _ then: @escaping (Result<AwaitStreamReply, ClientError>) -> Void) {
        request(AppMethod.awaitStream.rawValue, ["stream": .string(stream.hex)], then)
    }
}
