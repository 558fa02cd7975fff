import Foundation
import HandoffClient
import HandoffControl
import HandoffDocuments
import HandoffModel
import HandoffTransfer
import LoopIO

/// The documents of an app: looks them up in the file system, sends those that the app offers, and
/// fetches those of other devices. On a separate thread, because file systems can be slow.
final class DocumentService: Sendable {
    /// State that belongs to the loop's thread.
    private final class State {
        var folder: PrivateFolder?
        var lastNumber = 0
        var fetches: [ObjectIdentifier: DocumentFetch] = [:]
        var sending: [StreamID: Sending] = [:]
        var reported: Set<String> = []
        var hasEnded = false
    }

    /// The maximum number of documents sent at a time. Each is read and hashed.
    private static let maxSent = 16
    /// The maximum number of documents resolved per activity. The others keep their URLs unchanged.
    private static let maxResolved = 1024

    private let thread: LoopThread
    private let cache: String?
    private weak let application: HandoffApplication?
    private let bound: LoopBound<State>

    private struct Sending {
        var client: ControlClient?
        var transfer: SenderTransfer?
    }

    private var loop: EventLoop { thread.loop }
    private var state: State { bound.value }

    /// - Parameter cache: the user's cache folder; nil for the default.
    /// - Throws: an error of pthread_create(3) and others.
    init(cache: String?, application: HandoffApplication) throws(Errno) {
        thread = try LoopThread(name: "handoff-files")
        self.cache = cache
        bound = LoopBound(sending: State(), to: thread.loop)
        self.application = application
        // Clean up even if the app fetches nothing this time.
        loop.perform { PrivateFolder(cache: cache).removeOthers() }
    }

    /// Ends all work after the application was released.
    func end() {
        loop.perform { [self] in
            state.hasEnded = true
            for fetch in state.fetches.values { fetch.cancel() }
            for sent in state.sending.values { sent.transfer?.cancel() }
            state.sending = [:]
            state.folder = nil
        }
        FetchedDocuments.shared.forget(self)
    }

    // MARK: Resolving

    /// Looks up files of an activity in the file system. Any thread.
    /// - Parameter then: receives the results, on the document thread.
    func learn(_ urls: Set<String>, _ then: @escaping @Sendable ([String: DocumentTable.Answer]) -> Void) {
        loop.perform { [self] in
            let roots = roots()
            var answers: [String: DocumentTable.Answer] = [:]
            for text in urls {
                if let file = FileURL(text) { answers[text] = DocumentTable.Answer(of: file, roots: roots) }
            }
            then(answers)
        }
    }

    /// Finds local URLs for the documents of a continued activity. Any thread.
    /// - Parameter then: receives the local URLs by original URL, on the document thread.
    func resolve(
        _ urls: Set<String>, _ continuation: Continuation, _ then: @escaping @Sendable ([String: String]) -> Void
    ) {
        loop.perform { [self] in
            let roots = roots()
            var found: [GitCheckout]?
            var places: [String: String] = [:]
            for text in urls.sorted().prefix(Self.maxResolved) {
                guard let document = DocumentURL(text) else { continue }
                let path = (try? roots.path(of: document, found: &found)) ?? place(for: document, continuation)
                guard let path else { continue }
                let url = URL(fileURLWithPath: path, isDirectory: document.isFolder).absoluteString
                places[text] = url + (document.fragment.map { "#" + $0 } ?? "")
            }
            then(places)
        }
    }

    /// Returns the path to which a document will be fetched; nil for one that cannot be fetched.
    private func place(for document: DocumentURL, _ continuation: Continuation) -> String? {
        guard continuation.streams, let fetch = document.fetch, let resource = DocumentResource.resource(fetch) else {
            return nil
        }
        let folder = folder()
        state.lastNumber += 1
        let name = Self.safeName(document.name)
        let source = DocumentSource(continuation: continuation, resource: resource, name: VisibleText.escape(name))
        let path = folder.folder(state.lastNumber) + "/" + name
        FetchedDocuments.shared.add(FetchedDocument(source, number: state.lastNumber, path: path, service: self))
        return path
    }

    /// Returns the folder of this process, creating the object on first use.
    private func folder() -> PrivateFolder {
        let folder = state.folder ?? PrivateFolder(cache: cache)
        state.folder = folder
        return folder
    }

    /// Returns a safe file name for a document, without hidden characters.
    static func safeName(_ name: String) -> String {
        var kept = ""
        for scalar in name.unicodeScalars {
            kept.unicodeScalars.append(VisibleText.isHidden(scalar) || scalar == "/" ? "_" : scalar)
        }
        if kept.hasPrefix(".") || kept.hasPrefix("-") { kept = "_" + kept.dropFirst() }
        return FileName.problem(kept.utf8) == nil && kept.utf8.count <= TransferLimits.name ? kept : "document"
    }

    /// Calls `body` on the app's callback queue. Any thread.
    func callback(_ body: @escaping @Sendable () -> Void) {
        application?.callback { _ in body() }
    }

    private func roots() -> SharedRoots {
        if let roots = application?.configuration.sharedRoots { return HandoffSharedRoot.all(roots) }
        let (roots, problems) = DocumentsFile.read(environment: ProcessEnvironment.all)
        for problem in problems where state.reported.insert(problem.description).inserted {
            application?.report(nil, problem.description)
        }
        return roots
    }

    // MARK: Sending

    /// Accepts a stream that another device requested, and sends a document over it. Any thread.
    /// - Parameters:
    ///   - path: the document; nil if there is none, which is reported to the other device.
    ///   - socket: the daemon's socket.
    func send(_ path: String?, over id: StreamID, socket: String) {
        loop.perform { [self] in
            // Without a handler the daemon reports to the other app that the stream was not
            // accepted.
            guard let client = try? ControlClient(path: socket, loop: loop) else { return }
            state.sending[id] = Sending(client: client)
            client.openStream(.stream(id)) { [weak self] result in
                guard let self else { return }
                state.sending[id]?.client = nil
                guard case .success(let stream) = result, state.sending[id] != nil else {
                    // The other app has already cancelled the request.
                    state.sending[id] = nil
                    return
                }
                startTransfer(path, id, stream)
            }
        }
    }

    private func startTransfer(_ path: String?, _ id: StreamID, _ stream: ContinuationStream) {
        do throws(TransferFailure) {
            guard let path else { throw TransferFailure.shared(.unsupported, "the activity has no such document") }
            guard state.sending.count <= Self.maxSent else {
                throw TransferFailure.shared(.busy, "too many documents are being sent")
            }
            // Only the file name is shown: the path is private.
            let source = try SourceFile(path, shownAs: (path as NSString).lastPathComponent)
            let transfer = SenderTransfer(source, over: stream, on: loop, readInput: { _ in [] }) { [weak self] event in
                if case .ended = event { self?.state.sending[id] = nil }
            }
            state.sending[id]?.transfer = transfer
            transfer.start()
        } catch {
            state.sending[id] = nil
            // Sent in place of the first message.
            stream.write(TransferFrame.error(error).encoded())
            stream.finish()
        }
    }

    // MARK: Fetching

    /// Fetches a document for all of its waiters. Any thread.
    func fetch(_ document: FetchedDocument, number: Int) {
        loop.perform { [self] in
            do throws(TransferFailure) {
                if state.hasEnded { throw TransferFailure(.cancelled, "the app that continued the activity has ended") }
                _ = try folder().make(number)
                let key = ObjectIdentifier(document)
                let fetch = try DocumentFetch(
                    document.source, to: document.path, on: loop, progress: { document.moved($0, $1) }
                ) { [weak self] result in
                    self?.state.fetches[key] = nil
                    document.ended(result)
                }
                state.fetches[key] = fetch
                fetch.start()
            } catch {
                document.ended(.failure(HandoffError(error, document.source)))
            }
        }
    }

    /// Cancels a fetch without waiters. Any thread.
    func cancelFetch(_ document: FetchedDocument) {
        loop.perform { [self] in state.fetches[ObjectIdentifier(document)]?.cancel() }
    }
}
