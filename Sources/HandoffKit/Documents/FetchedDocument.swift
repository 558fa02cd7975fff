import Dispatch
import Foundation
import HandoffTransfer
import LoopIO

/// A document of another device that has a place here: fetched when the app begins to access it, and deleted when it has ended
/// that as often as it has begun.
///
/// Unchecked Sendable: the lock is held around every access to what changes, and not while something is called.
final class FetchedDocument: @unchecked Sendable {
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

    /// Where it is, or will be.
    let path: String
    /// The app that continued the activity.
    let desk: DocumentService
    /// Where it comes from.
    let source: DocumentSource
    private let number: Int
    private let lock = NSLock()
    private var state = State.absent

    /// A document that was not fetched.
    init(_ source: DocumentSource, number: Int, path: String, desk: DocumentService) {
        self.source = source
        self.number = number
        self.path = path
        self.desk = desk
    }

    /// Whether anybody accesses it, or waits for it.
    var isUsed: Bool {
        lock.withLock { if case .absent = state { false } else { true } }
    }

    /// Begins to access it, and fetches it when it is not here.
    /// - Returns: what `cancel` asks for.
    @discardableResult
    func start(progress: Progress? = nil, _ waiter: @escaping Waiter) -> UUID {
        let id = UUID()
        lock.lock()
        switch state {
        case .present(let count):
            state = .present(count + 1)
            lock.unlock()
            waiter(.success(()))
        case .fetching(var waiting):
            waiting[id] = Waiting(waiter: waiter, progress: progress)
            state = .fetching(waiting)
            lock.unlock()
        case .absent:
            state = .fetching([id: Waiting(waiter: waiter, progress: progress)])
            lock.unlock()
            desk.fetch(self, number: number)
        }
        return id
    }

    /// Waits no more.
    func cancel(_ id: UUID) {
        lock.lock()
        guard case .fetching(var waiting) = state, let one = waiting.removeValue(forKey: id) else {
            return lock.unlock()
        }
        state = .fetching(waiting)
        let isLast = waiting.isEmpty
        lock.unlock()
        if isLast { desk.cancelFetch(self) }
        one.waiter(.failure(.cancelledFetch(source)))
    }

    /// Ends one access; the last one deletes it.
    func stop() {
        lock.lock()
        defer { lock.unlock() }
        guard case .present(let count) = state else { return }
        guard count == 1 else {
            state = .present(count - 1)
            return
        }
        state = .absent
        // With the lock held, so that nobody fetches it in between. What cannot be deleted goes with the process.
        try? ReceivedContent.remove(folder: (path as NSString).deletingLastPathComponent)
    }

    /// More of it is here.
    func moved(_ position: Int64, _ size: Int64?) {
        lock.lock()
        guard case .fetching(let waiting) = state else { return lock.unlock() }
        lock.unlock()
        for one in waiting.values { one.progress?(position, size) }
    }

    /// It is here, or does not come.
    func ended(_ result: Result<Void, HandoffError>) {
        lock.lock()
        guard case .fetching(let waiting) = state else { return lock.unlock() }
        if case .failure(let error) = result, error.reason == HandoffError.cancelledReason, !waiting.isEmpty {
            // Called off by those before, and wanted again since.
            lock.unlock()
            return desk.fetch(self, number: number)
        }
        if case .success = result, !waiting.isEmpty {
            state = .present(waiting.count)
        } else {
            state = .absent
            try? ReceivedContent.remove(folder: (path as NSString).deletingLastPathComponent)
        }
        lock.unlock()
        for one in waiting.values { one.waiter(result) }
    }
}
