import Dispatch
import Foundation
import HandoffTransfer
import LoopIO

/// A document of another device with a local path. It is fetched when the app starts to access it,
/// and deleted when each access has been stopped.
final class FetchedDocument: Sendable {
    /// Receives the result, on any thread.
    typealias Waiter = @Sendable (Result<Void, HandoffError>) -> Void
    /// Receives the number of bytes received, and the total, on the document thread.
    typealias Progress = @Sendable (Int64, Int64?) -> Void

    private struct Waiting {
        let waiter: Waiter
        let progress: Progress?
    }

    private enum State {
        /// No access: there is no local file.
        case absent
        /// The document is being fetched for these waiters.
        case fetching([UUID: Waiting])
        /// The document is present, with this number of accesses.
        case present(Int)
    }

    /// The action after the end of a fetch.
    private enum Ending {
        /// The fetch was cancelled, but there are new waiters.
        case fetchAgain
        case notify([Waiter])
    }

    /// The local path, whether or not the document is present.
    let path: String
    /// The document service of the app that continued the activity.
    let service: DocumentService
    /// The source of the document.
    let source: DocumentSource
    private let number: Int
    /// Not locked during calls to other code.
    private let state = Locked(State.absent)

    init(_ source: DocumentSource, number: Int, path: String, service: DocumentService) {
        self.source = source
        self.number = number
        self.path = path
        self.service = service
    }

    /// True if the document is accessed or waited for.
    var isUsed: Bool {
        state.withLock { if case .absent = $0 { false } else { true } }
    }

    /// Starts an access, and fetches the document if it is not present.
    /// - Returns: an ID for `cancel`.
    @discardableResult
    func start(progress: Progress? = nil, _ waiter: @escaping Waiter) -> UUID {
        let id = UUID()
        let one = Waiting(waiter: waiter, progress: progress)
        let former = state.withLock { state in
            let former = state
            switch former {
            case .present(let count): state = .present(count + 1)
            case .fetching(var waiting):
                waiting[id] = one
                state = .fetching(waiting)
            case .absent: state = .fetching([id: one])
            }
            return former
        }
        switch former {
        case .present: waiter(.success(()))
        case .fetching: break
        case .absent: service.fetch(self, number: number)
        }
        return id
    }

    func cancel(_ id: UUID) {
        let removed: (one: Waiting, isLast: Bool)? = state.withLock { state in
            guard case .fetching(var waiting) = state, let one = waiting.removeValue(forKey: id) else { return nil }
            state = .fetching(waiting)
            return (one, waiting.isEmpty)
        }
        guard let removed else { return }
        if removed.isLast { service.cancelFetch(self) }
        removed.one.waiter(.failure(.cancelledFetch(source)))
    }

    /// Stops one access. The last one deletes the document.
    func stop() {
        state.withLock { state in
            guard case .present(let count) = state else { return }
            guard count == 1 else {
                state = .present(count - 1)
                return
            }
            remove(&state)
        }
    }

    /// Deletes the document. The lock is held, so that no fetch can start in between. Files that
    /// cannot be deleted now are deleted with the folder of the process.
    private func remove(_ state: inout State) {
        state = .absent
        try? ReceivedContent.remove(folder: (path as NSString).deletingLastPathComponent)
    }

    func moved(_ position: Int64, _ size: Int64?) {
        guard case .fetching(let waiting) = state.withLock({ $0 }) else { return }
        for one in waiting.values { one.progress?(position, size) }
    }

    func ended(_ result: Result<Void, HandoffError>) {
        var isCancelled = false
        if case .failure(let error) = result { isCancelled = error.reason == HandoffError.cancelledReason }
        let ending: Ending = state.withLock { state in
            guard case .fetching(let waiting) = state else { return .notify([]) }
            if isCancelled, !waiting.isEmpty { return .fetchAgain }
            if case .success = result, !waiting.isEmpty {
                state = .present(waiting.count)
            } else {
                remove(&state)
            }
            return .notify(waiting.values.map(\.waiter))
        }
        switch ending {
        case .fetchAgain: service.fetch(self, number: number)
        case .notify(let waiters): for waiter in waiters { waiter(result) }
        }
    }
}
