public import Foundation
import HandoffDocuments
import HandoffModel
import LoopIO

extension URL {
    /// Makes what this URL leads to accessible, as on Apple's systems: call it before using a `file:` URL from the `userInfo` of
    /// an activity that was continued. A document that another device keeps to itself is fetched, for which this waits; may be
    /// called on any queue, the main queue too. `HandoffDocument.fetch(_:progress:)` does the same without waiting, and says
    /// what went wrong.
    /// - Returns: whether it is there. Each true one is to be balanced by `stopAccessingSecurityScopedResource()`.
    @discardableResult
    public func startAccessingSecurityScopedResource() -> Bool {
        guard isFileURL else { return false }
        guard let document = FetchedDocuments.shared[path] else {
            return FileManager.default.fileExists(atPath: path)
        }
        let done = DispatchSemaphore(value: 0)
        let hasSucceeded = Locked(false)
        document.start { result in
            if case .success = result { hasSucceeded.withLock { $0 = true } }
            done.signal()
        }
        done.wait()
        return hasSucceeded.withLock { $0 }
    }

    /// Ends what `startAccessingSecurityScopedResource()` has begun. After the last one a document that was fetched is deleted.
    public func stopAccessingSecurityScopedResource() {
        guard isFileURL else { return }
        FetchedDocuments.shared[path]?.stop()
    }
}
