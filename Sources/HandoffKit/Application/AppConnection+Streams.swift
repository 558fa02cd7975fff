import HandoffClient
import HandoffControl
import HandoffDocuments
import HandoffModel
import LoopIO

// Continuation streams: opening those that the app asks for, and those that another app asks for.
extension AppConnection {
    /// `OpenStream` on a connection of its own, which then is the stream. On the loop's thread.
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

    /// Has the daemon share memory for a stream that is open, and hands the stream on, with memory or without.
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

    /// The app on the other device asks for a document of an activity of ours: one that was offered with it, by its number. On the
    /// loop's thread.
    func received(_ stream: StreamID, _ resource: StreamResource, of id: ActivityID) {
        guard let number = DocumentResource.number(resource), let application,
            let activity = application.activity(of: id), let socket = attached?.path,
            let desk = try? application.documents()
        else { return }
        desk.send(activity.documentPath(number), over: stream, socket: socket)
    }

    /// The app on the other device asks for a stream of an activity of ours. On the loop's thread.
    func received(_ stream: StreamID, of id: ActivityID) {
        // Without a handler the daemon tells the other app that nobody took it.
        guard let activity = application?.activity(of: id), let path = attached?.path else { return }
        guard activity.supportsContinuationStreams else {
            // It has streams for its documents alone: nobody shall wait.
            return open(.stream(stream), path: path) { if case .success(let socket) = $0 { socket.close() } }
        }
        guard activity.delegate != nil else { return }
        open(.stream(stream), path: path) { [weak self] result in
            // A failure means that the other app has given up meanwhile.
            guard case .success(let socket) = result else { return }
            self?.application?.callback { $0.run([activity.tell(.didReceive(socket))]) }
        }
    }
}
