import LoopIO

/// The documents of other devices to which URLs in this process refer. There is one registry per
/// process, because a URL does not identify its app.
final class FetchedDocuments: Sendable {
    static let shared = FetchedDocuments()

    /// The maximum number of documents. Beyond it, the oldest unused document is removed.
    private static let maxDocuments = 4096

    private struct State {
        var documents: [String: FetchedDocument] = [:]
        var order: [String] = []
    }

    private let state = Locked(State())

    private init() {}

    func add(_ document: FetchedDocument) {
        state.withLock { state in
            state.documents[document.path] = document
            state.order.append(document.path)
            guard state.order.count > Self.maxDocuments else { return }
            // Acquires the documents' locks inside this one. No document acquires this one.
            if let place = state.order.firstIndex(where: { !(state.documents[$0]?.isUsed ?? false) }) {
                state.documents[state.order.remove(at: place)] = nil
            }
        }
    }

    subscript(_ path: String) -> FetchedDocument? { state.withLock { $0.documents[path] } }

    /// Removes the documents of an app that has ended.
    func forget(_ service: DocumentService) {
        let former = state.withLock { state in
            let former = state.documents
            state.documents = former.filter { $0.value.service !== service }
            state.order = state.order.filter { state.documents[$0] != nil }
            return former
        }
        // Released after the lock: the last one also releases the document thread.
        withExtendedLifetime(former) {}
    }
}
