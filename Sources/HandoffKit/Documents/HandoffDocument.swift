public import Foundation
import HandoffDocuments
import HandoffModel
import LoopIO

/// A document that the user works on, and the activity for it: the part that `UIDocument` and `NSDocument` have in Handoff. A
/// document class inherits from it, or has one as a member.
///
/// Its activity says where the document is (`NSUserActivityDocumentURLKey`), which arrives as the same document on a device that
/// has it, and as one that can be fetched on another. A document that is in no file, as one that was never saved, has no activity.
///
/// Unchecked: what changes is only touched with the lock held; the base class has a lock of its own.
open class HandoffDocument: HandoffResponder, @unchecked Sendable {
    /// The type of its activity.
    public let activityType: String
    private let application: HandoffApplication
    private let lock = NSLock()
    private var url: URL
    /// Whether its window is in front.
    private var isMain = false

    /// A document that is not in front.
    /// - Parameters:
    ///   - fileURL: where it is. With another URL than that of a file, as another device may send one, the document has no
    ///     activity.
    ///   - activityType: the type of its activity, in reverse-DNS form: 1 to 255 visible ASCII characters.
    ///   - application: the app.
    public init(fileURL: URL, activityType: String, application: HandoffApplication = .shared) {
        url = fileURL
        self.activityType = activityType
        self.application = application
        super.init()
    }

    /// Where it is. Set it when it was moved or saved under another name; with another URL than that of a file its activity ends.
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

    /// Its window came to the front: its activity becomes the current one, and is made at the first time.
    open func becomeMain() {
        lock.withLock { isMain = true }
        guard fileURL.isFileURL else { return }
        if let activity = userActivity { return activity.becomeCurrent() }
        let activity = NSUserActivity(activityType: activityType, application: application)
        activity.title = fileURL.lastPathComponent
        activity.addUserInfoEntries(from: [NSUserActivityDocumentURLKey: fileURL])
        userActivity = activity
    }

    /// Its window is not in front any more, and no other document's is.
    open func resignMain() {
        lock.withLock { isMain = false }
        userActivity?.resignCurrent()
    }

    /// The user has done something in it that another device would want to know: the activity is saved by and by.
    open func changed() {
        userActivity?.needsSave = true
    }

    /// It was closed: its activity ends. `becomeMain` begins another one.
    open func close() {
        lock.withLock { isMain = false }
        endActivity()
    }

    private func endActivity() {
        let activity = userActivity
        userActivity = nil
        activity?.invalidate()
    }

    /// Writes where the document is into the activity. Overriding it, call this one, too.
    open override func updateUserActivityState(_ activity: NSUserActivity) {
        guard fileURL.isFileURL else { return }
        activity.addUserInfoEntries(from: [NSUserActivityDocumentURLKey: fileURL])
    }
}

extension HandoffDocument {
    /// How much of a document was fetched.
    public struct Progress: Sendable, Equatable {
        /// Bytes that are here.
        public let completed: Int64
        /// All of them; nil for a folder, whose size is not known before.
        public let total: Int64?
    }

    /// Fetches a document that a URL from an activity leads to, as `startAccessingSecurityScopedResource()` does, without waiting.
    /// Cancelling the task calls it off.
    /// - Parameters:
    ///   - url: from the `userInfo` of an activity that was continued; other `file:` URLs are there or not.
    ///   - progress: called now and then, on the app's callback queue.
    /// - Returns: the URL, whose document is there until `stopAccessingSecurityScopedResource()`.
    /// - Throws: an error of `NSCocoaErrorDomain` that names the document, the device and the cause; `CancellationError`.
    @discardableResult
    public static func fetch(_ url: URL, progress: (@Sendable (Progress) -> Void)? = nil) async throws -> URL {
        guard url.isFileURL, let document = FetchedDocuments.shared[url.path] else {
            if url.isFileURL, FileManager.default.fileExists(atPath: url.path) { return url }
            throw HandoffError.noDocument(url).cocoaError
        }
        var report: FetchedDocument.Progress?
        if let progress {
            report = { [weak desk = document.desk] completed, total in
                desk?.callback { progress(Progress(completed: completed, total: total)) }
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

/// One who waits for a document, and may be called off before it begins to.
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
    /// A URL that leads to nothing here.
    static func noDocument(_ url: URL) -> HandoffError {
        var message = "there is no \(VisibleText.escape(url.isFileURL ? url.path : url.absoluteString))"
        if let document = DocumentURL(url.absoluteString) {
            let name = VisibleText.escape(document.name)
            switch document.place {
            case .root(let root):
                message =
                    "\(name) lies in the shared folder '\(root)', which this device does not have: add 'root = \(root) "
                    + "FOLDER' to documents.conf"
            case .repository(let identity):
                message =
                    "\(name) lies in a checkout of \(identity), which this device does not have: clone it below a folder "
                    + "that documents.conf names as 'checkouts'"
            case .nowhere: message = "\(name) cannot be had: the other device could not read it"
            }
        }
        return HandoffError(code: HandoffFailure.failedCode, reason: "noDocument", message: message)
    }
}
