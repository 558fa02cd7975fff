package import HandoffClient
import HandoffControl
import HandoffModel
package import HandoffTransfer
import LoopIO

/// Finds out why a stream ended before its transfer did: the stream itself shows only an end, the daemon knows more.
final class StreamEnding {
    /// How long the daemon is asked. It answers at once for a stream that is over.
    private static let timeout = Duration.seconds(2)

    private var timer: LoopTimer?
    private var then: ((TransferFailure) -> Void)?

    /// Asks, unless the failure says enough by itself.
    /// - Parameter then: gets the failure in the daemon's words; called once, and never from inside this call.
    init(
        _ failure: TransferFailure, of stream: ContinuationStream, on loop: EventLoop,
        _ then: @escaping (TransferFailure) -> Void
    ) {
        self.then = then
        guard failure.reason == .gone, !failure.isReported else {
            loop.later { [weak self] in self?.finish(failure) }
            return
        }
        // A stream of which only the other direction has ended is over with ours.
        stream.endWriting()
        timer = loop.timer(after: Self.timeout) { [weak self] in self?.finish(failure) }
        stream.awaitEnd { [weak self] result in
            switch result {
            case .success(let reply): self?.finish(TransferFailure(end: reply.outcome, reply.message))
            case .failure(.lost), .failure(.notReachable), .failure(.foreign):
                self?.finish(TransferFailure(.gone, "the daemon went away"))
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
    /// A stream that ended too early. Reason `gone` means that trying again may help.
    init(end outcome: StreamOutcome, _ message: String) {
        let early = "the other device ended the stream before the transfer was complete"
        let words = message.isEmpty ? early : VisibleText.escape(message)
        switch outcome {
        case .ended: self.init(.gone, early)
        case .cancelled, .reset, .gone, .idle, .stopped: self.init(.gone, words)
        case .refused, .removed: self.init(.failed, words)
        case .failed:
            self.init(.failed, "\(words): it became shorter while it was sent, or its disk reports an error; try again")
        }
    }

    /// The daemon could not move a passed file.
    /// - Parameter action: what was tried, such as `cannot send draft.txt`.
    package init(daemon error: ClientError, _ action: String) {
        switch error {
        case .lost, .notReachable, .foreign:
            self.init(.gone, "the daemon went away")
        case .badAnswer(let why):
            self.init(.failed, "\(action): the daemon's answer makes no sense: \(why)")
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
