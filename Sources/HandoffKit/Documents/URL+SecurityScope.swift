public import Foundation
import HandoffDocuments
import HandoffModel
import LoopIO

extension URL {
    /// Makes the resource of this URL accessible, as on Apple's systems. Call it before using a
    /// `file:` URL from the `userInfo` of a continued activity. If only the other device has the
    /// document, it is fetched and the call blocks until then. May be called on any queue,
    /// including the main queue. `HandoffDocument.fetch(_:progress:)` does the same without
    /// blocking, and reports errors.
    /// - Returns: whether the resource is accessible. Balance each call that returns true with
    ///   `stopAccessingSecurityScopedResource()`.
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

    /// Ends an access started by `startAccessingSecurityScopedResource()`. The last call deletes a
    /// document that was fetched.
    public func stopAccessingSecurityScopedResource() {
        guard isFileURL else { return }
        FetchedDocuments.shared[path]?.stop()
    }
}
