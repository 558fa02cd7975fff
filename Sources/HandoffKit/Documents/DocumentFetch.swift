import HandoffClient
import HandoffControl
import HandoffModel
import HandoffTransfer
import LoopIO

/// Fetches one document over a stream. After a lost connection it requests another stream and
/// resumes at the same position. Used on the loop's thread. Its creator must keep a reference until
/// completion.
final class DocumentFetch {
    private enum State {
        /// No attempt is in progress: before the first one, or after completion.
        case idle
        case opening(ControlClient)
        case receiving(ReceiverTransfer)
        case waiting(LoopTimer)
    }

    /// The maximum time without progress.
    private static let timeout = Duration.seconds(30)

    private let source: DocumentSource
    private let destination: Destination
    private let loop: EventLoop
    private let progress: (Int64, Int64?) -> Void
    private var completion: ((Result<Void, HandoffError>) -> Void)?
    private var state = State.idle
    private var backoff = Backoff.document
    private var header: TransferHeader?
    private var best: Int64 = 0
    private var lastProgress: MonotonicInstant
    private var watch: LoopTimer?

    /// - Parameters:
    ///   - path: the destination, in an existing folder.
    ///   - progress: receives the number of bytes received, and the total; nil if that is unknown.
    ///   - completion: called once.
    init(
        _ source: DocumentSource, to path: String, on loop: EventLoop, progress: @escaping (Int64, Int64?) -> Void,
        _ completion: @escaping (Result<Void, HandoffError>) -> Void
    ) throws(TransferFailure) {
        self.source = source
        self.loop = loop
        self.progress = progress
        self.completion = completion
        // Errors here are reported to the other device.
        destination = try Destination(output: path, isForced: true, shownAs: "the cache for documents")
        lastProgress = loop.now
    }

    func start() {
        observe()
        open()
    }

    /// Cancels the fetch and notifies the other device.
    func cancel() {
        if case .receiving(let transfer) = state { transfer.cancel() }
        finish(.failure(.cancelledFetch(source)))
    }

    private func observe() {
        watch = loop.timer(after: Self.timeout) { [weak self] in
            guard let self, completion != nil else { return }
            guard lastProgress.duration(to: loop.now) >= Self.timeout else { return observe() }
            if case .receiving(let transfer) = state { transfer.cancel() }
            finish(.failure(.stalledFetch(source)))
        }
    }

    private func open() {
        do throws(ClientError) {
            let client = try ControlClient(path: source.continuation.path, loop: loop)
            state = .opening(client)
            client.openStream(.continuation(source.continuation.id, resource: source.resource)) { [weak self] result in
                guard let self, completion != nil else { return }
                switch result {
                case .success(let stream): receive(stream)
                case .failure(let error): failed(error)
                }
            }
        } catch {
            failed(error)
        }
    }

    private func receive(_ stream: ContinuationStream) {
        let options = ReceiverTransfer.Options(
            loop: loop, destination: destination, sender: source.continuation.origin.device,
            accept: { [weak self] header throws(TransferFailure) in try self?.accept(header) }, writeOutput: { _ in })
        let transfer = ReceiverTransfer(stream, options) { [weak self] event in self?.handle(event) }
        state = .receiving(transfer)
        transfer.start()
    }

    private func accept(_ header: TransferHeader) throws(TransferFailure) {
        guard header.kind != .stream else { throw TransferFailure(.unsupported, "it is neither a file nor a folder") }
        if let known = self.header, known.size != header.size || known.id != header.id {
            // The document has been saved since, so the next attempt starts over.
            best = 0
        }
        self.header = header
    }

    private func handle(_ event: ReceiverTransfer.Event) {
        guard completion != nil else { return }
        switch event {
        case .begun(_, let offset): progress(offset, header?.size)
        case .moved(let position):
            progress(position, header?.size)
            guard position > best else { return }
            best = position
            lastProgress = loop.now
            backoff.reset()
        case .ended(.success(let received)):
            guard received.omissions.isEmpty else {
                let failure = TransferFailure(.unreadable, received.omissions.summary)
                return finish(.failure(HandoffError(failure, source)))
            }
            finish(.success(()))
        case .ended(.failure(let failure)):
            let mayPass = (failure.reason == .gone && !failure.isReported) || failure.reason == .changed
            if mayPass { retry(HandoffError(failure, source)) } else { finish(.failure(HandoffError(failure, source))) }
        }
    }

    private func failed(_ error: ClientError) {
        let failure = HandoffError(error)
        let passing = [HandoffFailure.connectionUnavailableCode, HandoffFailure.timedOutCode]
        if passing.contains(failure.code), failure.reason != "notMember" {
            retry(failure)
        } else {
            finish(.failure(failure.fetching(source)))
        }
    }

    /// Schedules another attempt, unless there has been no progress for too long.
    private func retry(_ failure: HandoffError) {
        guard lastProgress.duration(to: loop.now) < Self.timeout else { return finish(.failure(failure)) }
        // Changing the state closes the partial file, which the next attempt opens.
        state = .waiting(loop.timer(after: backoff.next()) { [weak self] in self?.open() })
    }

    private func finish(_ result: Result<Void, HandoffError>) {
        guard let completion else { return }
        self.completion = nil
        watch = nil
        // Later, because releasing the state may release the caller of this method.
        loop.later { [self] in
            state = .idle
            completion(result)
        }
    }
}

extension HandoffError {
    init(_ failure: TransferFailure, _ source: DocumentSource) {
        let isGone = failure.reason == .gone && !failure.isReported
        self.init(
            code: isGone ? HandoffFailure.connectionUnavailableCode : HandoffFailure.failedCode,
            reason: failure.reason.rawValue, message: "cannot fetch \(source.name) from \(source.device): \(failure)")
    }

    /// Returns the same error with the document's name.
    func fetching(_ source: DocumentSource) -> HandoffError {
        HandoffError(
            code: code, reason: reason, message: "cannot fetch \(source.name) from \(source.device): \(message)")
    }

    static let cancelledReason = "fetchCancelled"

    /// The error for a fetch that was cancelled because no caller waits for the document.
    static func cancelledFetch(_ source: DocumentSource) -> HandoffError {
        HandoffError(
            code: HandoffFailure.failedCode, reason: cancelledReason,
            message: "fetching \(source.name) from \(source.device) was cancelled")
    }

    static func stalledFetch(_ source: DocumentSource) -> HandoffError {
        HandoffError(
            code: HandoffFailure.timedOutCode, reason: "timedOut",
            message: "cannot fetch \(source.name) from \(source.device): no data arrived for 30 seconds; try again")
    }
}
