import Dispatch
import Foundation
import HandoffTransfer
import LoopIO

/// A document of another device that has a place here: fetched when the app begins to access it, and deleted when it has ended
/// that as often as it has begun.
final class FetchedDocument: Sendable {
    /// Gets how it went, on any thread.
    typealias Waiter = @Sendable (Result<Void, HandoffError>) -> Void
    /// Gets how many bytes are there, and how many there will be, on the thread for files.
    typealias Progress = @Sendable (Int64, Int64?) -> Void

    private struct Waiting {
        let waiter: Waiter
        let progress: Progress?
    }

    private enum State {
        /// The state while nobody accesses it: nothing is here.
        case absent
        /// The state while it is fetched, for those who wait.
        case fetching([UUID: Waiting])
        /// The state while it is here, and accessed so many times.
        case present(Int)
    }

    /// What follows the end of a fetch.
    private enum Ending {
        /// Called off by those before, and wanted again since.
        case fetchAgain
        case tell([Waiter])
    }

    /// Where it is, or will be.
    let path: String
    /// The app that continued the activity.
    let desk: DocumentService
    /// Where it comes from.
    let source: DocumentSource
    private let number: Int
    /// Not locked while something is called.
    private let state = Locked(State.absent)

    /// A document that was not fetched.
    init(_ source: DocumentSource, number: Int, path: String, desk: DocumentService) {
        self.source = source
        self.number = number
        self.path = path
        self.desk = desk
    }

    /// Whether anybody accesses it, or waits for it.
    var isUsed: Bool {
        state.withLock { if case .absent = $0 { false } else { true } }
    }

    /// Begins to access it, and fetches it when it is not here.
    /// - Returns: what `cancel` asks for.
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
        case .absent: desk.fetch(self, number: number)
        }
        return id
    }

    /// Waits no more.
    func cancel(_ id: UUID) {
        let removed: (one: Waiting, isLast: Bool)? = state.withLock { state in
            guard case .fetching(var waiting) = state, let one = waiting.removeValue(forKey: id) else { return nil }
            state = .fetching(waiting)
            return (one, waiting.isEmpty)
        }
        guard let removed else { return }
        if removed.isLast { desk.cancelFetch(self) }
        removed.one.waiter(.failure(.cancelledFetch(source)))
    }

    /// Ends one access; the last one deletes it.
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

    /// Deletes it, with the lock held, so that nobody fetches it in between. What cannot be deleted goes with the process.
    private func remove(_ state: inout State) {
        state = .absent
        try? ReceivedContent.remove(folder: (path as NSString).deletingLastPathComponent)
    }

    /// More of it is here.
    func moved(_ position: Int64, _ size: Int64?) {
        guard case .fetching(let waiting) = state.withLock({ $0 }) else { return }
        for one in waiting.values { one.progress?(position, size) }
    }

    /// It is here, or does not come.
    func ended(_ result: Result<Void, HandoffError>) {
        var isCancelled = false
        if case .failure(let error) = result { isCancelled = error.reason == HandoffError.cancelledReason }
        let ending: Ending = state.withLock { state in
            guard case .fetching(let waiting) = state else { return .tell([]) }
            if isCancelled, !waiting.isEmpty { return .fetchAgain }
            if case .success = result, !waiting.isEmpty {
                state = .present(waiting.count)
            } else {
                remove(&state)
            }
            return .tell(waiting.values.map(\.waiter))
        }
        switch ending {
        case .fetchAgain: desk.fetch(self, number: number)
        case .tell(let waiters): for waiter in waiters { waiter(result) }
        }
    }
}
