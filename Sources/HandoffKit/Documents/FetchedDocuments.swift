import LoopIO

/// The documents of other devices that URLs in this process lead to. One for the process, since a URL does not know its app.
final class FetchedDocuments: Sendable {
    /// All of them.
    static let shared = FetchedDocuments()

    /// Documents that are known; of more, those that nobody accesses are forgotten, the oldest first.
    private static let most = 4096

    private struct State {
        var documents: [String: FetchedDocument] = [:]
        var order: [String] = []
    }

    private let state = Locked(State())

    private init() {}

    /// Knows a document from now on.
    func add(_ document: FetchedDocument) {
        state.withLock { state in
            state.documents[document.path] = document
            state.order.append(document.path)
            guard state.order.count > Self.most else { return }
            // Takes the documents' locks inside of this one, which no document takes.
            if let place = state.order.firstIndex(where: { !(state.documents[$0]?.isUsed ?? false) }) {
                state.documents[state.order.remove(at: place)] = nil
            }
        }
    }

    /// The document at a path.
    subscript(_ path: String) -> FetchedDocument? { state.withLock { $0.documents[path] } }

    /// Forgets the documents of an app that has ended.
    func forget(_ desk: DocumentService) {
        let former = state.withLock { state in
            let former = state.documents
            state.documents = former.filter { $0.value.desk !== desk }
            state.order = state.order.filter { state.documents[$0] != nil }
            return former
        }
        // They end after the lock: the last one takes the thread for files with it.
        withExtendedLifetime(former) {}
    }
}
