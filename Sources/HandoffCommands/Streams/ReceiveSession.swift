import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffStreamTransfer
import HandoffTransfer
import LoopIO
import Timing

/// Continues an activity and receives what its app streams. A stream that is cut is asked for again, and goes on where it was.
/// Lives on the loop's thread.
final class ReceiveSession {
    private enum State {
        /// The state while the daemon is asked to continue the activity, to find it again, or to open a stream.
        case asking(ControlClient)
        /// The state while content comes.
        case receiving(ReceiverTransfer)
        /// The state between two attempts.
        case waiting(LoopTimer)
        /// The state before the first attempt, and when it is over.
        case idle
    }

    /// How much longer than asked for the daemon's own word is waited for.
    private static let grace = Duration.seconds(5)
    /// How long an interrupted command may take to end in order.
    private static let endingPatience = Duration.seconds(2)

    private let request: ReceiveRequest
    private let context: CommandContext
    private let destination: Destination
    private var status: TransferStatus?
    private var state = State.idle
    private var backoff = Backoff.transfer
    /// When the first bytes came, and how many of them were here before.
    private var began: (at: MonotonicInstant, position: Int64)?
    /// What is received, once it was continued.
    private var activity: ContinuedActivity?
    private var stream: StreamID?
    private var header: TransferHeader?
    private var progress: Int?
    /// The furthest that any attempt got, and when: going on after that is progress.
    private var best: Int64 = 0
    private var position: Int64 = 0
    private var lastProgress: MonotonicInstant
    private var watch: LoopTimer?
    private var isInterrupted = false
    /// Told what becomes of it in the place of ending the command.
    private weak var delegate: (any ReceiveSessionDelegate)?

    /// - Parameter delegate: told what becomes of it; nil: the command ends with it.
    /// - Throws: `CommandFailure` when the content can go nowhere.
    init(
        _ request: ReceiveRequest, _ context: CommandContext, delegate: (any ReceiveSessionDelegate)? = nil
    ) throws(CommandFailure) {
        self.request = request
        self.context = context
        self.delegate = delegate
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
        // Before the first byte that another device may have chosen. All threads that there will be are started later, but for
        // the one that sweeps, which reads nothing that arrives.
        if context.ownsProcess {
            Leftovers.sweep(beside: destination)
            destination.confine()
        }
        prepare()
        if let timeout = request.activity.timeout {
            // The daemon gives up by itself, and says why; this is for one that does nothing any more.
            context.after(.seconds(timeout) + Self.grace) { [unowned self] in
                guard activity == nil else { return }
                context.fail(CommandFailure(.notReachable(path: context.socketPath, reason: "it does not answer")))
            }
        }
        // An activity without a stream is refused here, because its origin counts it as continued otherwise.
        listOffers { [unowned self] offers in
            do throws(CommandFailure) {
                carryOn(try request.activity.choosingStream(among: offers))
            } catch {
                fail(error)
            }
        }
    }

    /// Goes on with an activity that this program has continued as a handler, which is confined already.
    func start(_ activity: ContinuedActivity, _ continuation: ContinuationID) {
        prepare()
        self.activity = activity
        open(activity, continuation)
    }

    private func prepare() {
        context.onInterrupt { [unowned self] in interrupted() }
        status = TransferStatus(
            context, verb: "receiving", tick: context.json ? { [unowned self] in sayProgress() } : nil)
    }

    /// Looks now and then whether the content has stopped coming, on a connection that is not cut.
    private func observe() {
        watch = context.loop.timer(after: request.timeout) { [weak self] in
            guard let self else { return }
            // Who streams what is being made may be silent for hours.
            let isWatched = header?.kind != .stream || request.activity.timeout != nil
            let isStuck = lastProgress.duration(to: context.loop.now) >= request.timeout
            if isWatched, isStuck, case .receiving(let transfer) = state, transfer.awaitsSender {
                transfer.cancel(TransferFailure(.gone, "nothing came for \(request.timeout.components.seconds) s"))
            }
            observe()
        }
    }

    /// Whether the activity has arrived; until then the other device is waited for.
    var isContinued: Bool { activity != nil }

    // MARK: - Asking

    /// Asks the daemon on a connection of its own.
    private func ask(_ question: (ControlClient) -> Void) {
        do throws(ClientError) {
            let client = try ControlClient(path: context.socketPath, loop: context.loop)
            state = .asking(client)
            question(client)
        } catch {
            failed(error)
        }
    }

    private func listOffers(_ then: @escaping ([ControlActivity]) -> Void) {
        ask { client in
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
        ask { client in
            client.continueActivity(wanted) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(.willContinue):
                    break  // The payload is on its way; the last reply decides.
                case .success(.continued(_, let activity?, _, let continuation?)):
                    continued(activity, continuation)
                case .success(.continued):
                    context.fail(CommandFailure(.badAnswer("continued without the activity, or its continuation")))
                case .failure(let error):
                    failed(error)
                }
            }
        }
    }

    private func continued(_ activity: ContinuedActivity, _ continuation: ContinuationID) {
        if self.activity == nil { show(activity) }
        self.activity = activity
        open(activity, continuation)
    }

    private func open(_ activity: ContinuedActivity, _ continuation: ContinuationID) {
        guard activity.streams else {
            return fail(.noStreams(device: VisibleText.escape(activity.origin.deviceName)))
        }
        ask { client in
            client.openStream(.continuation(continuation)) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let stream): receive(stream, from: activity.origin.device)
                case .failure(let error): failed(error)
                }
            }
        }
    }

    /// Looks for the activity under another id: a publisher whose daemon was restarted has published it again.
    private func findAgain() {
        guard let activity else { return carryOn(request.activity) }
        listOffers { [unowned self] offers in
            guard let offer = activity.offer(among: offers) else {
                return again(TransferFailure(.gone, "the activity is no longer on offer"))
            }
            carryOn(ContinueRequest(activity: offer.id.hex, from: offer.device.hex, take: true))
        }
    }

    // MARK: - Receiving

    private func receive(_ stream: ContinuationStream, from device: DeviceID) {
        self.stream = stream.id
        if watch == nil {
            lastProgress = context.loop.now
            observe()
        }
        let options = ReceiverTransfer.Options(
            loop: context.loop, destination: destination, sender: device,
            accept: { [weak self] header throws(TransferFailure) in try self?.accept(header) },
            writeOutput: context.console.writeBytes)
        TransferMemory.keep()
        let transfer = ReceiverTransfer(stream, options) { [weak self] event in self?.happened(event) }
        state = .receiving(transfer)
        transfer.start()
    }

    /// Whether it is still the content that was begun with.
    private func accept(_ header: TransferHeader) throws(TransferFailure) {
        guard let known = self.header else { return }
        guard known.kind == header.kind, known.name == header.name, known.size == header.size, known.id == header.id
        else { throw TransferFailure(.changed, "the other device offers something else by now") }
        // What went out cannot be taken back.
        guard destination.route == .passed || position == 0 else {
            throw TransferFailure(.gone, "the stream was cut, and its beginning is on standard output already")
        }
    }

    private func happened(_ event: ReceiverTransfer.Event) {
        switch event {
        case .begun(let header, let offset): begun(header, offset)
        case .moved(let position):
            self.position = position
            if let progress { status?.moved(progress, to: position) }
            guard position > best else { return }
            best = position
            lastProgress = context.loop.now
            backoff.reset()
        case .ended(let result):
            if let progress { status?.end(progress) }
            progress = nil
            // Lets go of the part of the file, which the next attempt opens.
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
            delegate?.receivingBegan()
            lastProgress = context.loop.now
            began = (lastProgress, offset)
        }
        progress = status?.begin(TransferStatus.Progress(position: offset, size: header.size))
        guard let activity, let stream else { return }
        let name = header.name.map(VisibleText.escape) ?? "a stream"
        let size = header.size.map { ", \(ByteText.text($0))" } ?? ""
        let from = offset > 0 ? ", going on at \(ByteText.text(offset))" : ""
        let repository =
            header.hasRepository ? "; it contains a repository, whose configuration and hooks will be set aside" : ""
        let device = VisibleText.escape(activity.origin.deviceName)
        if context.json || isFirst || offset > 0 {
            var fields: JSONObject = [
                "id": .string(activity.id.hex), "stream": .string(stream.hex),
                "kind": .string(header.kind.rawValue), "name": header.name.map { .string($0) } ?? .null,
                "size": header.size.map { .integer($0) } ?? .null, "from": .integer(offset),
                "device": .string(activity.origin.device.hex), "deviceName": .string(activity.origin.deviceName),
            ]
            if header.hasRepository { fields["repository"] = true }
            say("stream", "\(name)\(size) from \(device)\(from)\(repository)", fields)
        }
    }

    // MARK: - Trying again

    private func failed(_ error: ClientError) {
        guard !isInterrupted else { return conclude(nil) }
        guard activity != nil else { return fail(CommandFailure(error)) }
        switch error {
        case .lost, .notReachable, .foreign:
            again(TransferFailure(.gone, "the daemon went away"))
        case .refused(let refusal) where refusal.mayPass:
            again(TransferFailure(.gone, VisibleText.escape(refusal.message)))
        case .refused, .badAnswer:
            sayKept()
            fail(CommandFailure(error))
        }
    }

    private func ended(_ failure: TransferFailure) {
        guard !isInterrupted else { return conclude(nil) }
        guard failure.reason == .gone, !failure.isReported else { return conclude(failure) }
        again(failure)
    }

    /// Tries again after a pause, unless nothing has moved for too long.
    private func again(_ failure: TransferFailure) {
        let isStuck = lastProgress.duration(to: context.loop.now) >= request.timeout
        // Standard output has taken a part, and no part can be left out of what it gets.
        guard !isStuck, destination.route == .passed || position == 0 else { return conclude(failure) }
        if backoff.isFresh { context.note("\(failure.message); trying again") }
        state = .waiting(context.loop.timer(after: backoff.next()) { [weak self] in self?.findAgain() })
    }

    // MARK: - The end

    private func finish(_ received: ReceiverTransfer.Received) {
        var size = ByteText.text(received.bytes)
        if let began {
            let (seconds, attoseconds) = began.at.duration(to: context.loop.now).components
            // What took less than a second was fast, and says little of the network.
            if seconds > 0 {
                let tenths = seconds * 10 + attoseconds / 100_000_000_000_000_000
                let rate = ByteText.rate((position - began.position) / max(1, tenths) * 10)
                size += " in \(tenths / 10).\(tenths % 10) s, \(rate)"
            }
        }
        let missing = received.omissions
        var fields: JSONObject = [
            "path": received.path.map { .string($0) } ?? .null, "bytes": .integer(received.bytes),
        ]
        if !missing.isEmpty { fields["missing"] = .integer(missing.count) }
        say("received", received.path.map { "\($0), \(size)" } ?? size, fields)
        for remark in received.remarks { context.note(remark) }
        guard missing.isEmpty else {
            for line in missing.lines { context.note("missing: \(line)") }
            return fail(.incomplete(received.path, missing))
        }
        guard let delegate else { return context.finish(.done) }
        delegate.received(received.path)
    }

    private func fail(_ failure: CommandFailure) {
        guard let delegate else { return context.fail(failure) }
        delegate.receivingFailed(failure)
    }

    /// Ends without the content: with a failure, or interrupted.
    private func conclude(_ failure: TransferFailure?) {
        guard let failure else {
            sayKept()
            return context.finish(.interrupted)
        }
        let isKept = ![.changed, .stored].contains(failure.reason)
        fail(.transfer(failure, advice: isKept ? kept.map { [$0] } ?? [] : []))
    }

    private func interrupted() {
        guard !isInterrupted, case .receiving(let transfer) = state else {
            sayKept()
            return context.finish(.interrupted)
        }
        isInterrupted = true
        context.after(Self.endingPatience) { [unowned self] in conclude(nil) }
        transfer.cancel()
    }

    /// What is left for the next time; nil for nothing.
    private var kept: String? {
        guard let header, header.id != nil, destination.route == .passed, position > 0 else { return nil }
        let all = header.size.map { " of \(ByteText.text($0))" } ?? ""
        return "\(ByteText.text(position))\(all) are kept; run the same command again to continue"
    }

    private func sayKept() {
        status?.clear()
        if let kept { context.note(kept) }
    }

    // MARK: - Words

    /// Whether our lines go to standard error, since standard output has the content.
    private var isOutputTaken: Bool { destination.route == .inline }

    private func show(_ activity: ContinuedActivity) {
        let text = context.json ? JSONLine.text(activity.json) + "\n" : ContinuedText.text(activity)
        isOutputTaken ? context.console.writeDiagnostics(text) : context.console.write(text)
    }

    private func say(_ event: String, _ text: String, _ fields: JSONObject) {
        status?.clear()
        let line =
            context.json ? JSONLine.text(Describe.event(event, fields)) : "\(Describe.word(event, width: 8))  \(text)"
        isOutputTaken ? context.console.writeDiagnostics(line + "\n") : context.console.line(line)
    }

    private func sayProgress() {
        guard let stream else { return }
        say(
            "progress", "",
            [
                "stream": .string(stream.hex), "received": .integer(position),
                "size": header?.size.map { .integer($0) } ?? .null,
            ])
    }
}
