import HandoffClient
import HandoffControl
import HandoffModel
import HandoffTransfer
import LoopIO

/// Continues an activity and receives the content that its app streams. Requests an interrupted
/// stream again and resumes it. Used only on the loop's thread.
final class ReceiveSession {
    private enum State {
        /// A request to the daemon is pending: to continue the activity, to find it again, or to
        /// open a stream.
        case requesting(ControlClient)
        /// Content is arriving.
        case receiving(ReceiverTransfer)
        /// Waiting between two attempts.
        case waiting(LoopTimer)
        /// Before the first attempt, or finished.
        case idle
    }

    /// Grace period after the user's timeout, to let the daemon report its own error.
    private static let grace = Duration.seconds(5)
    /// The time limit for an interrupted command to shut down.
    private static let shutdownTimeout = Duration.seconds(2)

    private let request: ReceiveRequest
    private let context: CommandContext
    private let destination: Destination
    private var output: ReceiveOutput?
    private var state = State.idle
    private var backoff = Backoff.transfer
    /// When the first bytes arrived, and how many were here before.
    private var began: (at: MonotonicInstant, position: Int64)?
    /// The activity, once continued.
    private var activity: ContinuedActivity?
    private var stream: StreamID?
    private var header: TransferHeader?
    private var progress: Int?
    /// The furthest position of all attempts. Progress is measured from there.
    private var best: Int64 = 0
    private var position: Int64 = 0
    private var lastProgress: MonotonicInstant
    private var watch: LoopTimer?
    private var isInterrupted = false
    /// The maximum size if no user has accepted the content; nil if a user has.
    private var limit: Int64?
    /// Receives the result instead of ending the command.
    private weak var handler: (any ReceiveHandler)?

    /// - Parameter handler: receives the result; nil ends the command with it.
    /// - Throws: `CommandFailure` if the content cannot be stored.
    init(
        _ request: ReceiveRequest, _ context: CommandContext, handler: (any ReceiveHandler)? = nil
    ) throws(CommandFailure) {
        self.request = request
        self.context = context
        self.handler = handler
        lastProgress = context.loop.now
        do throws(TransferFailure) {
            destination = try Destination(
                output: request.output, isForced: request.isForced, unnamed: request.unnamed)
        } catch {
            throw .transfer(error)
        }
    }

    /// Continues the activity.
    func start() {
        // Before the first byte that another device may have chosen. All other threads are started
        // later, except the sweeping one, which reads no received data.
        if context.ownsProcess {
            Leftovers.sweep(beside: destination)
            destination.confine()
        }
        prepare()
        if let continuation = request.document?.continuation { return openStream(continuation) }
        if let timeout = request.activity.timeout {
            // The daemon times out by itself and reports why. This is for a daemon that no longer
            // responds.
            context.after(.seconds(timeout) + Self.grace) { [unowned self] in
                guard activity == nil else { return }
                context.fail(CommandFailure(.notReachable(path: context.socketPath, reason: "it does not respond")))
            }
        }
        // Refuse an activity without a stream here, because its origin would count it as continued.
        listOffers { [unowned self] offers in
            do throws(CommandFailure) {
                carryOn(try request.activity.choosingStream(among: offers))
            } catch {
                fail(error)
            }
        }
    }

    /// Proceeds with an activity that this program has continued as a handler, which is already
    /// confined.
    /// - Parameter limit: the maximum size if no user has accepted the content.
    func start(_ activity: ContinuedActivity, _ continuation: ContinuationID, limit: Int64?) {
        prepare()
        self.limit = limit
        self.activity = activity
        open(activity, continuation)
    }

    private func prepare() {
        context.onInterrupt { [unowned self] in interrupted() }
        let status = TransferStatus(
            context, verb: "receiving", tick: context.json ? { [unowned self] in printProgress() } : nil)
        output = ReceiveOutput(
            context: context, isTaken: destination.route == .inline, document: request.document, status: status)
    }

    /// Checks periodically whether content has stopped arriving on an open connection.
    private func observe() {
        watch = context.loop.timer(after: request.timeout) { [weak self] in
            guard let self else { return }
            // A sender that streams content as it is produced may be silent for hours.
            let isWatched = header?.kind != .stream || request.activity.timeout != nil
            let isStuck = lastProgress.duration(to: context.loop.now) >= request.timeout
            if isWatched, isStuck, case .receiving(let transfer) = state, transfer.awaitsSender {
                transfer.cancel(TransferFailure(.gone, "nothing arrived for \(request.timeout.components.seconds) s"))
            }
            observe()
        }
    }

    /// True if the activity has arrived. Until then, the other device has not replied.
    var isContinued: Bool { activity != nil || request.document?.continuation != nil }

    // MARK: - Requests

    /// Makes a request to the daemon on a new connection.
    private func request(_ call: (ControlClient) -> Void) {
        do throws(ClientError) {
            let client = try ControlClient(path: context.socketPath, loop: context.loop)
            state = .requesting(client)
            call(client)
        } catch {
            failed(error)
        }
    }

    private func listOffers(_ then: @escaping ([OfferedActivity]) -> Void) {
        request { client in
            client.listActivities(here: false) { [weak self] result in
                guard let self else { return }
                switch result {
                case .failure(let error): failed(error)
                case .success(let offers): then(offers)
                }
            }
        }
    }

    private func carryOn(_ wanted: ContinueRequest) {
        request { client in
            client.continueActivity(wanted) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(.willContinue):
                    break  // The payload is on its way; the last reply decides.
                case .success(.continued(_, let activity?, _, let continuation?, _)):
                    continued(activity, continuation)
                case .success(.continued):
                    context.fail(CommandFailure(.badAnswer("the continued reply has no activity or no continuation")))
                case .failure(let error):
                    failed(error)
                }
            }
        }
    }

    private func continued(_ activity: ContinuedActivity, _ continuation: ContinuationID) {
        if self.activity == nil { output?.continued(activity) }
        self.activity = activity
        open(activity, continuation)
    }

    private func open(_ activity: ContinuedActivity, _ continuation: ContinuationID) {
        if !activity.streams, let item = KeptItem(activity) { return read(item, continuation) }
        guard activity.streams else {
            return fail(.noStreams(device: VisibleText.escape(activity.origin.deviceName)))
        }
        openStream(continuation)
    }

    /// Reads the file in a copy from the daemon, and saves it once it is complete.
    private func read(_ item: KeptItem, _ continuation: ContinuationID, _ content: [UInt8] = []) {
        guard content.count < item.size else { return save(item, content) }
        request { client in
            client.readContent(ReadContentRequest(continuation: continuation, offset: content.count)) {
                [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let part):
                    guard let bytes = part.bytes, !bytes.isEmpty, content.count + bytes.count <= item.size else {
                        return conclude(TransferFailure(.malformed, "the daemon sends another file"))
                    }
                    read(item, continuation, content + bytes)
                case .failure(let error): fail(CommandFailure(error))
                }
            }
        }
    }

    private func save(_ item: KeptItem, _ content: [UInt8]) {
        do throws(TransferFailure) {
            try accept(item.header)
            header = item.header
            handler?.receivingBegan()
            finish(
                try item.save(
                    content, to: destination, from: activity?.origin.device ?? .unknown, context.console.writeBytes))
        } catch {
            conclude(error)
        }
    }

    private func openStream(_ continuation: ContinuationID) {
        request { client in
            client.openStream(.continuation(continuation, resource: request.document?.resource)) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let stream): receive(stream)
                case .failure(let error): failed(error)
                }
            }
        }
    }

    /// Finds the activity under another id: a publisher publishes it again after a restart of its
    /// daemon.
    private func findAgain() {
        if let continuation = request.document?.continuation { return openStream(continuation) }
        guard let activity else { return carryOn(request.activity) }
        listOffers { [unowned self] offers in
            // The numbers of documents are valid only in their own activity.
            guard let offer = activity.offer(among: offers), request.document == nil || offer.id == activity.id else {
                return again(TransferFailure(.gone, "the activity is no longer offered"))
            }
            carryOn(ContinueRequest(activity: offer.id.hex, from: offer.device.hex, take: true))
        }
    }

    // MARK: - Receiving

    private func receive(_ stream: ContinuationStream) {
        self.stream = stream.id
        if watch == nil {
            lastProgress = context.loop.now
            observe()
        }
        let options = ReceiverTransfer.Options(
            loop: context.loop, destination: destination, sender: activity?.origin.device ?? .unknown,
            accept: { [weak self] header throws(TransferFailure) in try self?.accept(header) },
            writeOutput: context.console.writeBytes)
        TransferMemory.keep()
        let transfer = ReceiverTransfer(stream, options) { [weak self] event in self?.happened(event) }
        state = .receiving(transfer)
        transfer.start()
    }

    /// Checks that the content is still the one that was begun.
    private func accept(_ header: TransferHeader) throws(TransferFailure) {
        if let limit {
            let types = DocumentTypes(environment: ProcessEnvironment.all)
            guard ProgressReports.isSavable(header, limit: limit, types) else {
                throw .shared(.cancelled, "its user has to accept it there")
            }
        }
        guard let known = self.header else { return }
        guard known.kind == header.kind, known.name == header.name, known.size == header.size, known.id == header.id
        else { throw TransferFailure(.changed, "the other device now offers different content") }
        // Bytes written to standard output cannot be taken back.
        guard destination.route == .passed || position == 0 else {
            throw TransferFailure(.gone, "the stream was cut after its beginning was written to standard output")
        }
    }

    private func happened(_ event: ReceiverTransfer.Event) {
        switch event {
        case .begun(let header, let offset): begun(header, offset)
        case .moved(let position):
            self.position = position
            if let progress { output?.status.moved(progress, to: position) }
            guard position > best else { return }
            best = position
            lastProgress = context.loop.now
            backoff.reset()
        case .ended(let result):
            if let progress { output?.status.end(progress) }
            progress = nil
            // Release the partial file, which the next attempt opens.
            state = .idle
            switch result {
            case .success(let received): finish(received)
            case .failure(let failure): ended(failure)
            }
        }
    }

    private func begun(_ header: TransferHeader, _ offset: Int64) {
        let isFirst = self.header == nil
        self.header = header
        position = offset
        if isFirst {
            handler?.receivingBegan()
            lastProgress = context.loop.now
            began = (lastProgress, offset)
        }
        progress = output?.status.begin(TransferStatus.Progress(position: offset, size: header.size))
        guard let stream, context.json || isFirst || offset > 0 else { return }
        output?.begun(header, stream, of: activity, offset: offset)
    }

    // MARK: - Retrying

    private func failed(_ error: ClientError) {
        guard !isInterrupted else { return conclude(nil) }
        guard isContinued else { return fail(CommandFailure(error)) }
        switch error {
        case .lost, .notReachable, .foreign:
            again(TransferFailure(.gone, "the daemon stopped"))
        case .refused(let refusal) where refusal.mayPass:
            again(TransferFailure(.gone, VisibleText.escape(refusal.message)))
        case .refused, .badAnswer:
            reportKept()
            fail(CommandFailure(error))
        }
    }

    private func ended(_ failure: TransferFailure) {
        guard !isInterrupted else { return conclude(nil) }
        guard failure.reason == .gone, !failure.isReported else { return conclude(failure) }
        again(failure)
    }

    /// Retries after a pause, unless nothing has moved for too long.
    private func again(_ failure: TransferFailure) {
        let isStuck = lastProgress.duration(to: context.loop.now) >= request.timeout
        // Standard output has received a part, and a retry could not continue after it.
        guard !isStuck, destination.route == .passed || position == 0 else { return conclude(failure) }
        if backoff.isFresh { context.note("\(failure.message); retrying") }
        state = .waiting(context.loop.timer(after: backoff.next()) { [weak self] in self?.findAgain() })
    }

    // MARK: - The end

    private func finish(_ received: ReceiverTransfer.Received) {
        var rate = ""
        if let began {
            let (seconds, attoseconds) = began.at.duration(to: context.loop.now).components
            // A rate over less than a second would be meaningless.
            if seconds > 0 {
                let tenths = seconds * 10 + attoseconds / 100_000_000_000_000_000
                let speed = ByteText.rate((position - began.position) / max(1, tenths) * 10)
                rate = " in \(tenths / 10).\(tenths % 10) s, \(speed)"
            }
        }
        output?.received(received, rate: rate)
        guard received.omissions.isEmpty || handler?.acceptsIncomplete == true else {
            return fail(.incomplete(received.path, received.omissions))
        }
        guard let handler else { return context.finish(.done) }
        handler.received(received.path)
    }

    private func fail(_ failure: CommandFailure) {
        guard let handler else { return context.fail(failure) }
        handler.receivingFailed(failure)
    }

    /// Ends without the content: with a failure, or interrupted.
    private func conclude(_ failure: TransferFailure?) {
        guard let failure else {
            reportKept()
            return context.finish(.interrupted)
        }
        let isKept = ![.changed, .stored].contains(failure.reason)
        fail(.transfer(failure, advice: isKept ? kept.map { [$0] } ?? [] : []))
    }

    /// The number of bytes of the content that exist here, and the total if known.
    var amount: (received: Int64, size: Int64?) { (position, header?.size) }

    /// Cancels the transfer. The part is kept if it can be resumed.
    func cancel() {
        if case .receiving(let transfer) = state { return transfer.cancel() }
        state = .idle
        conclude(TransferFailure(.cancelled, "it was cancelled"))
    }

    private func interrupted() {
        guard !isInterrupted, case .receiving(let transfer) = state else {
            reportKept()
            return context.finish(.interrupted)
        }
        isInterrupted = true
        context.after(Self.shutdownTimeout) { [unowned self] in conclude(nil) }
        transfer.cancel()
    }

    /// A description of the part that is kept for the next attempt, if any.
    private var kept: String? {
        guard let header, header.id != nil, destination.route == .passed, position > 0 else { return nil }
        let all = header.size.map { " of \(ByteText.text($0))" } ?? ""
        return "\(ByteText.text(position))\(all) are kept; run the same command again to resume"
    }

    private func reportKept() {
        output?.status.clear()
        if let kept { context.note(kept) }
    }

    private func printProgress() {
        if let stream { output?.progress(stream, position, of: header?.size) }
    }
}

/// Receives the result of a `ReceiveSession`, which then does not end the command.
protocol ReceiveHandler: AnyObject {
    /// True if a folder with omitted entries, which a note has reported, is no failure.
    var acceptsIncomplete: Bool { get }
    /// Called when content is arriving, and there is room for it.
    func receivingBegan()
    /// Called when the content is complete at this path; nil for standard output.
    func received(_ path: String?)
    /// Called when receiving failed, before it began or later.
    func receivingFailed(_ failure: CommandFailure)
}

extension DeviceID {
    /// Stands for the sender if another program continued the activity. It only distinguishes parts
    /// of interrupted transfers in one folder.
    fileprivate static let unknown = DeviceID(checked: [UInt8](repeating: 0, count: byteCount))
}
