import HandoffClient
import HandoffControl
import HandoffModel
import HandoffTransfer
import LoopIO

/// Reports the progress of a received file to the daemon once a second, which shows it to the user,
/// and cancels the transfer if the user did.
final class ProgressReports {
    private static let interval = Duration.seconds(1)

    private let activity: ContinuedActivity
    private let receiver: ReceiveSession
    private let loop: EventLoop
    private let socketPath: String
    private let session: () -> Attachment?
    private var timer: LoopTimer?

    /// - Parameter session: returns the present attachment; nil while the daemon is not running.
    init(
        _ activity: ContinuedActivity, _ receiver: ReceiveSession, _ context: CommandContext,
        session: @escaping () -> Attachment?
    ) {
        self.activity = activity
        self.receiver = receiver
        loop = context.loop
        socketPath = context.socketPath
        self.session = session
    }

    /// Registers the transfer, and reports its progress until this object is released.
    /// - Parameter then: receives the maximum size if no user has accepted the file.
    func start(_ then: @escaping (Result<Int64?, ClientError>) -> Void) {
        report { [weak self] result in
            switch result {
            case .success(let reply):
                self?.arm()
                then(.success(reply.limit))
            // An older daemon prompts for every file.
            case .failure(.refused(let refusal)) where refusal.isAboutMethod:
                then(.success(nil))
            case .failure(let error): then(.failure(error))
            }
        }
    }

    private func arm() {
        timer = loop.timer(after: Self.interval, accuracy: .milliseconds(100)) { [weak self] in
            self?.report { result in
                if case .success(let reply) = result, reply.cancelled { self?.receiver.cancel() }
            }
            self?.arm()
        }
    }

    /// Reports that the file is complete, for an app that opens it and reports no path.
    func finish(_ then: @escaping () -> Void) {
        timer = nil
        report(isComplete: true) { _ in then() }
    }

    private func report(
        isComplete: Bool = false, _ then: @escaping (Result<ReportProgressReply, ClientError>) -> Void
    ) {
        guard let session = session() else { return then(.failure(.lost(path: socketPath))) }
        let (received, total) = receiver.amount
        let size = isComplete ? received : total
        session.calls.reportProgress(
            ReportProgressRequest(
                session: session.id, device: activity.origin.device, activity: activity.id, received: received,
                size: size), then)
    }

    /// True if a file may be saved that no user has accepted: a document by each of its possible
    /// names here, not executable, of a known size within the limit.
    static func isSavable(_ header: TransferHeader, limit: Int64, _ types: DocumentTypes) -> Bool {
        guard header.kind == .file, let size = header.size, size <= limit, (header.mode ?? 0) & 0o111 == 0,
            let name = try? FileName.usable(header.name).name
        else { return false }
        return [name, FileName.portable(name.utf8)].allSatisfy(types.isDocument(name:))
    }
}
