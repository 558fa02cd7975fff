import HandoffClient
import HandoffControl
import HandoffDocuments
import HandoffJSON
import HandoffModel
import LoopIO

// Continuation streams: those that the app opens, and those that another app requests.
extension AppConnection {
    /// Sends `OpenStream` on a separate connection, which then becomes the stream. On the loop's
    /// thread.
    func open(
        _ request: OpenStreamRequest, path: String, _ then: @escaping (Result<StreamSocket, HandoffError>) -> Void
    ) {
        do throws(ClientError) {
            let client = try ControlClient(path: path, loop: loop)
            let key = ObjectIdentifier(client)
            openings[key] = client
            client.upgrade(AppMethod.openStream.rawValue, request.json) { [self] result in
                openings[key] = nil
                switch result {
                case .failure(let error): then(.failure(HandoffError(error)))
                case .success(let raw): share(raw, path: path, then)
                }
            }
        } catch {
            then(.failure(HandoffError(error)))
        }
    }

    /// Has the daemon share memory for an open stream, and passes on the stream, with or without
    /// memory.
    private func share(
        _ raw: RawStream, path: String, _ then: @escaping (Result<StreamSocket, HandoffError>) -> Void
    ) {
        let first = raw.first
        guard let application, let descriptor = raw.detach() else {
            return then(.failure(HandoffError(.lost(path: path))))
        }
        let held = PassedFile(descriptor)
        let finish: (SharedMemory?) -> Void = { [loop] memory in
            guard let descriptor = held.take() else { return }
            then(
                .success(
                    StreamSocket(descriptor, first: first, memory: memory, loop: loop, application: application)))
        }
        guard let id: StreamID = try? Fields(raw.reply).value("stream"),
            let client = try? ControlClient(path: path, loop: loop)
        else { return finish(nil) }
        let key = ObjectIdentifier(client)
        openings[key] = client
        SharedMemory.make(for: id, by: client) { [self] memory in
            openings[key] = nil
            finish(memory)
        }
    }

    /// Handles a request from the app on the other device for a document that was offered, under a
    /// number, with a local activity. On the loop's thread.
    func received(_ stream: StreamID, _ resource: StreamResource, of id: ActivityID) {
        guard let number = DocumentResource.number(resource), let application,
            let activity = application.activity(of: id), let socket = attached?.path,
            let service = try? application.documents()
        else { return }
        service.send(activity.documentPath(number), over: stream, socket: socket)
    }

    /// Handles a request from the app on the other device for a stream of a local activity. On the
    /// loop's thread.
    func received(_ stream: StreamID, of id: ActivityID) {
        // Without a handler the daemon reports to the other app that the stream was not accepted.
        guard let activity = application?.activity(of: id), let path = attached?.path else { return }
        guard activity.supportsContinuationStreams else {
            // The activity has streams only for its documents: close this one so that the other app
            // does not wait.
            return open(.stream(stream), path: path) { if case .success(let socket) = $0 { socket.close() } }
        }
        guard activity.delegate != nil else { return }
        open(.stream(stream), path: path) { [weak self] result in
            // On failure, the other app has already cancelled the request.
            guard case .success(let socket) = result else { return }
            self?.application?.callback { $0.run([activity.notify(.didReceive(socket))]) }
        }
    }
}
