public import Foundation
import HandoffDocuments
import HandoffModel
import LoopIO

/// A document that the user works on, and its activity. It provides the Handoff part of
/// `UIDocument` and `NSDocument`. A document class inherits from it, or has one as a member.
///
/// The activity contains the document's URL (`NSUserActivityDocumentURLKey`). On a device that also
/// has the document, the URL arrives as that document; on any other, as one that can be fetched. A
/// document without a file, such as one that was never saved, has no activity.
///
/// Unchecked: mutable state is only accessed with the lock held. The base class has its own lock.
open class HandoffDocument: HandoffResponder, @unchecked Sendable {
    /// The type of the document's activity.
    public let activityType: String
    private let application: HandoffApplication
    private let lock = NSLock()
    private var url: URL
    /// True if the document's window is in front.
    private var isMain = false

    /// Creates a document that is not in front.
    /// - Parameters:
    ///   - fileURL: the location of the document. If it is not a file URL, which is possible when
    ///     another device sent it, the document has no activity.
    ///   - activityType: the type of the activity, in reverse-DNS form: 1 to 255 visible ASCII
    ///     characters.
    ///   - application: the app.
    public init(fileURL: URL, activityType: String, application: HandoffApplication = .shared) {
        url = fileURL
        self.activityType = activityType
        self.application = application
        super.init()
    }

    /// The location of the document. Set it after the document was moved or saved under another
    /// name. If it is not a file URL, the activity ends.
    open var fileURL: URL {
        get { lock.withLock { url } }
        set {
            let isMain = lock.withLock {
                url = newValue
                return self.isMain
            }
            guard newValue.isFileURL else { return endActivity() }
            if let activity = userActivity {
                activity.title = newValue.lastPathComponent
                activity.needsSave = true
            } else if isMain {
                becomeMain()
            }
        }
    }

    /// Makes the document's activity current, creating it on first use. Call this when its window
    /// moves to the front.
    open func becomeMain() {
        lock.withLock { isMain = true }
        guard fileURL.isFileURL else { return }
        if let activity = userActivity { return activity.becomeCurrent() }
        let activity = NSUserActivity(activityType: activityType, application: application)
        activity.title = fileURL.lastPathComponent
        activity.addUserInfoEntries(from: [NSUserActivityDocumentURLKey: fileURL])
        userActivity = activity
    }

    /// Makes the document's activity resign. Call this when its window leaves the front and no
    /// other document's replaces it.
    open func resignMain() {
        lock.withLock { isMain = false }
        userActivity?.resignCurrent()
    }

    /// Schedules a save of the activity. Call this when the user has changed the document in a way
    /// that matters to another device.
    open func changed() {
        userActivity?.needsSave = true
    }

    /// Ends the activity of a closed document. `becomeMain` creates another one.
    open func close() {
        lock.withLock { isMain = false }
        endActivity()
    }

    private func endActivity() {
        let activity = userActivity
        userActivity = nil
        activity?.invalidate()
    }

    /// Writes the document's URL into the activity. An override must call this implementation.
    open override func updateUserActivityState(_ activity: NSUserActivity) {
        guard fileURL.isFileURL else { return }
        activity.addUserInfoEntries(from: [NSUserActivityDocumentURLKey: fileURL])
    }
}

extension HandoffDocument {
    /// The progress of a fetch.
    public struct Progress: Sendable, Equatable {
        /// The number of bytes received.
        public let completed: Int64
        /// The total number of bytes; nil for a folder, whose size is not known in advance.
        public let total: Int64?
    }

    /// Fetches the document of a URL from an activity, like
    /// `startAccessingSecurityScopedResource()`, without blocking. Cancelling the task cancels the
    /// fetch.
    /// - Parameters:
    ///   - url: a URL from the `userInfo` of a continued activity. Any other `file:` URL is only
    ///     checked for existence.
    ///   - progress: called repeatedly, on the app's callback queue.
    /// - Returns: the URL. Its document exists until `stopAccessingSecurityScopedResource()`.
    /// - Throws: an error in `NSCocoaErrorDomain` that names the document, the device and the
    ///   cause; `CancellationError`.
    @discardableResult
    public static func fetch(_ url: URL, progress: (@Sendable (Progress) -> Void)? = nil) async throws -> URL {
        guard url.isFileURL, let document = FetchedDocuments.shared[url.path] else {
            if url.isFileURL, FileManager.default.fileExists(atPath: url.path) { return url }
            throw HandoffError.noDocument(url).cocoaError
        }
        var report: FetchedDocument.Progress?
        if let progress {
            report = { [weak service = document.service] completed, total in
                service?.callback { progress(Progress(completed: completed, total: total)) }
            }
        }
        let ticket = FetchTicket(document)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ticket.start(progress: report) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            ticket.cancel()
        }
        do throws(HandoffError) {
            try result.get()
        } catch {
            try Task.checkCancellation()
            throw error.cocoaError
        }
        return url
    }
}

/// A waiter for a document. It can be cancelled before it starts.
private final class FetchTicket: Sendable {
    private struct State {
        var id: UUID?
        var isCancelled = false
    }

    private let document: FetchedDocument
    private let state = Locked(State())

    init(_ document: FetchedDocument) {
        self.document = document
    }

    func start(progress: FetchedDocument.Progress?, _ waiter: @escaping FetchedDocument.Waiter) {
        let id = document.start(progress: progress, waiter)
        let isLate = state.withLock { state in
            state.id = id
            return state.isCancelled
        }
        if isLate { document.cancel(id) }
    }

    func cancel() {
        let id = state.withLock { state in
            state.isCancelled = true
            return state.id
        }
        if let id { document.cancel(id) }
    }
}

extension HandoffError {
    /// The error for a URL without a local document.
    static func noDocument(_ url: URL) -> HandoffError {
        var message = "\(VisibleText.escape(url.isFileURL ? url.path : url.absoluteString)) does not exist"
        if let document = DocumentURL(url.absoluteString) { message = document.absence }
        return HandoffError(code: HandoffFailure.failedCode, reason: "noDocument", message: message)
    }
}
