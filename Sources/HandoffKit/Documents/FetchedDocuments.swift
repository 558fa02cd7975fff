import Foundation

/// The documents of other devices that URLs in this process lead to. One for the process, since a URL does not know its app.
///
/// Unchecked Sendable: the lock is held around every access.
final class FetchedDocuments: @unchecked Sendable {
    /// All of them.
    static let shared = FetchedDocuments()

    /// Documents that are known; of more, those that nobody accesses are forgotten, the oldest first.
    private static let most = 4096

    private let lock = NSLock()
    private var documents: [String: FetchedDocument] = [:]
    private var order: [String] = []

    private init() {}

    /// Knows a document from now on.
    func add(_ document: FetchedDocument) {
        lock.withLock {
            documents[document.path] = document
            order.append(document.path)
            guard order.count > Self.most else { return }
            if let place = order.firstIndex(where: { !(documents[$0]?.isUsed ?? false) }) {
                documents[order.remove(at: place)] = nil
            }
        }
    }

    /// The document at a path.
    subscript(_ path: String) -> FetchedDocument? { lock.withLock { documents[path] } }

    /// Forgets the documents of an app that has ended.
    func forget(_ desk: DocumentService) {
        let former = lock.withLock {
            let former = documents
            documents = documents.filter { $0.value.desk !== desk }
            order = order.filter { documents[$0] != nil }
            return former
        }
        // They end after the lock: the last one takes the thread for files with it.
        withExtendedLifetime(former) {}
    }
}
