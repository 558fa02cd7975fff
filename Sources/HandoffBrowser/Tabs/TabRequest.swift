import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// Requests the open tabs of one device. Lives on the loop's thread. Releasing it cancels the
/// request.
final class TabRequest {
    private let client: ControlClient
    private var second: ControlClient?
    private var stream: ContinuationStream?
    private var bytes: [UInt8] = []
    private var then: ((Result<[OpenTab], ClientError>) -> Void)?

    /// - Parameters:
    ///   - path: The control socket.
    ///   - then: Receives the list, once.
    init(
        _ offer: OfferedActivity, path: String, loop: EventLoop,
        _ then: @escaping (Result<[OpenTab], ClientError>) -> Void
    ) throws(ClientError) {
        client = try ControlClient(path: path, loop: loop)
        self.then = then
        let request = ContinueRequest(activity: offer.id.hex, from: offer.device.hex, take: true)
        client.continueActivity(request) { [weak self] result in
            switch result {
            case .success(.continued(_, _, _, let continuation?, _)): self?.open(continuation, path, loop)
            case .success(.continued): self?.end(.failure(.badAnswer("a continuation without an id")))
            case .success(.willContinue): break
            case .failure(let error): self?.end(.failure(error))
            }
        }
    }

    private func open(_ continuation: ContinuationID, _ path: String, _ loop: EventLoop) {
        do throws(ClientError) {
            let client = try ControlClient(path: path, loop: loop)
            second = client
            client.openStream(.continuation(continuation)) { [weak self] result in
                switch result {
                case .success(let stream): self?.read(stream)
                case .failure(let error): self?.end(.failure(error))
                }
            }
        } catch {
            end(.failure(error))
        }
    }

    private func read(_ stream: ContinuationStream) {
        self.stream = stream
        stream.onRead = { [weak self] more in
            guard let self else { return }
            bytes += more
            if bytes.count > OpenTab.maxList { end(.failure(.badAnswer("the list of tabs is larger than 1 MiB"))) }
        }
        stream.onEnd = { [weak self] in
            guard let self else { return }
            let limits = JSONLimits(bytes: OpenTab.maxList, depth: 4)
            guard let list = try? JSON(parsing: bytes, limits: limits) else {
                return end(.failure(.badAnswer("the reply is not a list of tabs")))
            }
            end(.success(OpenTab.list(list)))
        }
        stream.onError = { [weak self] _ in self?.end(.failure(.badAnswer("the connection was lost"))) }
    }

    private func end(_ result: Result<[OpenTab], ClientError>) {
        let report = then
        then = nil
        stream?.finish()
        report?(result)
    }
}
