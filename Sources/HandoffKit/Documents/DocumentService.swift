import Foundation
import HandoffClient
import HandoffControl
import HandoffDocuments
import HandoffModel
import HandoffStreamTransfer
import HandoffTransfer
import LoopIO

/// The documents of an app: asks the file system about them, sends those that it offers, and fetches those of others. On a thread
/// of its own, since a file system may take its time.
final class DocumentService: Sendable {
    /// What belongs to the loop's thread.
    private final class State {
        var folder: PrivateFolder?
        var lastNumber = 0
        var fetches: [ObjectIdentifier: DocumentFetch] = [:]
        var sending: [StreamID: Sending] = [:]
        var reported: Set<String> = []
        var hasEnded = false
    }

    /// Documents that are sent at a time: each is read and hashed.
    private static let maxSent = 16
    /// Documents of one activity that are looked at; the others keep the URLs that came.
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

    /// - Parameter cache: the user's cache; nil for the usual one.
    /// - Throws: an error of pthread_create(3) and others.
    init(cache: String?, application: HandoffApplication) throws(Errno) {
        thread = try LoopThread(name: "handoff-files")
        self.cache = cache
        bound = LoopBound(sending: State(), to: thread.loop)
        self.application = application
        // Also for an app that fetches nothing this time.
        loop.perform { PrivateFolder(cache: cache).removeOthers() }
    }

    /// Ends everything, when the application has gone.
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

    // MARK: What travels

    /// Asks the file system about files of an activity. Any thread.
    /// - Parameter then: gets the answers, on the thread for files.
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

    /// Finds places here for the documents of an activity that is continued. Any thread.
    /// - Parameter then: gets the URLs that take the places of others, on the thread for files.
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

    /// The place where a document will be that is fetched; nil for one that cannot be.
    private func place(for document: DocumentURL, _ continuation: Continuation) -> String? {
        guard continuation.streams, let fetch = document.fetch, let resource = DocumentResource.resource(fetch) else {
            return nil
        }
        let folder = folder()
        state.lastNumber += 1
        let name = Self.safeName(document.name)
        let source = DocumentSource(continuation: continuation, resource: resource, name: VisibleText.escape(name))
        let path = folder.folder(state.lastNumber) + "/" + name
        FetchedDocuments.shared.add(FetchedDocument(source, number: state.lastNumber, path: path, desk: self))
        return path
    }

    /// The folder of this process, which is made at the first time.
    private func folder() -> PrivateFolder {
        let folder = state.folder ?? PrivateFolder(cache: cache)
        state.folder = folder
        return folder
    }

    /// A name that files may have here without surprising anybody.
    static func safeName(_ name: String) -> String {
        var kept = ""
        for scalar in name.unicodeScalars {
            kept.unicodeScalars.append(VisibleText.isHidden(scalar) || scalar == "/" ? "_" : scalar)
        }
        if kept.hasPrefix(".") || kept.hasPrefix("-") { kept = "_" + kept.dropFirst() }
        return FileName.problem(kept.utf8) == nil && kept.utf8.count <= TransferLimits.name ? kept : "document"
    }

    /// Calls something on the app's callback queue. Any thread.
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

    /// Takes a stream that another device asked for, and sends a document over it. Any thread.
    /// - Parameters:
    ///   - path: the document; nil when there is none, which the other device is told.
    ///   - socket: the daemon's.
    func send(_ path: String?, over id: StreamID, socket: String) {
        loop.perform { [self] in
            // Without a handler the daemon tells the other app that nobody took it.
            guard let client = try? ControlClient(path: socket, loop: loop) else { return }
            state.sending[id] = Sending(client: client)
            client.openStream(.stream(id)) { [weak self] result in
                guard let self else { return }
                state.sending[id]?.client = nil
                guard case .success(let stream) = result, state.sending[id] != nil else {
                    // The other app has given up meanwhile.
                    state.sending[id] = nil
                    return
                }
                begin(path, id, stream)
            }
        }
    }

    private func begin(_ path: String?, _ id: StreamID, _ stream: ContinuationStream) {
        do throws(TransferFailure) {
            guard let path else { throw TransferFailure.told(.unsupported, "the activity has no such document") }
            guard state.sending.count <= Self.maxSent else {
                throw TransferFailure.told(.busy, "so many documents are being sent already")
            }
            // The path is nobody else's matter.
            let source = try SourceFile(path, shownAs: (path as NSString).lastPathComponent)
            let transfer = SenderTransfer(source, over: stream, on: loop, readInput: { _ in [] }) { [weak self] event in
                if case .ended = event { self?.state.sending[id] = nil }
            }
            state.sending[id]?.transfer = transfer
            transfer.start()
        } catch {
            state.sending[id] = nil
            // In the place of the first message.
            stream.write(TransferFrame.error(error).encoded())
            stream.finish()
        }
    }

    // MARK: Fetching

    /// Fetches a document for all who wait for it. Any thread.
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

    /// Nobody waits for a document any more. Any thread.
    func cancelFetch(_ document: FetchedDocument) {
        loop.perform { [self] in state.fetches[ObjectIdentifier(document)]?.cancel() }
    }
}
