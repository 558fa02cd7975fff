package import HandoffClient
package import HandoffControl
import HandoffModel
import LoopIO

/// Finds out why a stream ended before its transfer did. The stream itself only ends; the daemon
/// knows the reason.
final class StreamEnding {
    /// The time limit for the daemon's reply. For a stream that has ended, it replies immediately.
    private static let timeout = Duration.seconds(2)

    private var timer: LoopTimer?
    private var then: ((TransferFailure) -> Void)?

    /// Requests the reason, unless the failure already includes it.
    /// - Parameter then: receives the failure with the daemon's reason. Called once, and never
    ///   during this call.
    init(
        _ failure: TransferFailure, of stream: ContinuationStream, on loop: EventLoop,
        _ then: @escaping (TransferFailure) -> Void
    ) {
        self.then = then
        guard failure.reason == .gone, !failure.isReported else {
            loop.later { [weak self] in self?.finish(failure) }
            return
        }
        // If only the other direction has ended, ending this one ends the stream.
        stream.endWriting()
        timer = loop.timer(after: Self.timeout) { [weak self] in self?.finish(failure) }
        stream.awaitEnd { [weak self] result in
            switch result {
            case .success(let reply): self?.finish(TransferFailure(end: reply.outcome, reply.message))
            case .failure(.lost), .failure(.notReachable), .failure(.foreign):
                self?.finish(TransferFailure(.gone, "the connection to the daemon was lost"))
            case .failure: self?.finish(failure)
            }
        }
    }

    private func finish(_ failure: TransferFailure) {
        timer = nil
        guard let then else { return }
        self.then = nil
        then(failure)
    }
}

extension TransferFailure {
    /// A stream that ended too early. The reason `gone` means that a retry may succeed.
    package init(end outcome: StreamOutcome, _ message: String) {
        let early = "the other device ended the stream before the transfer was complete"
        let words = message.isEmpty ? early : VisibleText.escape(message)
        switch outcome {
        case .ended: self.init(.gone, early)
        case .cancelled, .reset, .gone, .idle, .stopped: self.init(.gone, words)
        case .refused, .removed, .other: self.init(.failed, words)
        case .failed:
            self.init(.failed, "\(words): it became shorter while being sent, or its disk reports an error; try again")
        }
    }

    /// The daemon failed to move a passed file.
    /// - Parameter action: the attempted operation, such as `cannot send draft.txt`.
    package init(daemon error: ClientError, _ action: String) {
        switch error {
        case .lost, .notReachable, .foreign:
            self.init(.gone, "the connection to the daemon was lost")
        case .badAnswer(let why):
            self.init(.failed, "\(action): the daemon's reply is invalid: \(why)")
        case .refused(let refusal) where refusal.name == AppErrorName.noSuchStream.rawValue:
            // The stream ended before the call. A busy program calls late.
            self.init(.gone, "the stream has ended")
        case .refused(let refusal):
            if refusal.name == AppErrorName.streamEnded.rawValue,
                let end = try? StreamEndedError(json: refusal.parameters)
            {
                self.init(end: end.outcome, end.message)
            } else {
                self.init(.failed, "\(action): \(VisibleText.escape(refusal.message))")
            }
        }
    }
}
