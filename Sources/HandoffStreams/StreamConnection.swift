internal import Glibc
internal import HandoffTLS
internal import LoopIO
import Timing

/// One stream: TLS over TCP on one side, a unix socket of an app on the other. On its stream loop only.
///
/// Back-pressure needs no messages: bytes are taken from one side only when the other has taken all that came before, so
/// what waits is at most a chunk each way. States: `docs/state-machines/stream.md`.
final class StreamConnection {
    enum State {
        /// The state while the client's ticket is awaited; how much of it is here.
        case awaitingTicket([UInt8])
        /// The state while the daemon judges the ticket.
        case judging
        /// The state while bytes flow.
        case open
        /// The state once it was reported as over, while the last bytes leave.
        case parting
        /// The state once everything is closed.
        case closed
    }

    /// How long a ticket is.
    static let ticketSize = 16
    /// Ciphertext that may wait: of one frame, and answers to key updates, of which an honest side asks few.
    private static let maxCiphertext = StreamWord.maxData + StreamWord.maxData / 4
    /// Room for a ticket, in records of any size.
    private static let greetingRoom = 1024
    private static let movedInterval = Duration.seconds(1)

    let streamLoop: StreamLoop
    let session: TLSSession
    let times: StreamTimes
    let report: (StreamHandle.Event) -> Void
    var state = State.judging
    var socket: Descriptor?
    private var socketSource: EventSource?
    /// The app's end.
    var local: Descriptor?
    /// Who may pass descriptors there.
    private(set) var passer = DescriptorSource.unnamed
    private var localSource: EventSource?
    /// The app has closed its end before both directions had ended.
    var isAppGone = false {
        didSet {
            // From here on a stream that does not move is not worth what it holds, such as shared memory.
            if isAppGone, !oldValue, case .open = state { deadline?.rearm(after: times.orphaned) }
        }
    }
    var incoming = IncomingBytes()
    var outgoing = OutgoingBytes()
    /// What takes the place of the app's socket in both directions, once an app shares it.
    var memory: LocalMemory?
    /// What came stays as it is, encrypted, since the app had no room for it in the memory when it was looked at last. Decided once for each
    /// step: the app may make room at any moment, and rings only if it was told that we wait.
    var isHeldForRoom = false
    /// The file that takes the place of the app's socket in either direction, now or from its position on.
    var sending: SendingPart?
    var receiving: ReceivingPart?
    /// TCP gives no more bytes: the other side has ended it, or it has failed.
    var isSocketOver = false
    var socketError: Errno?
    /// TLS was ended by the other side (close_notify).
    var isSessionOver = false
    /// We have shown a ticket, and no word has come since: whether it was taken is not known.
    var isUnanswered = false
    private var deadline: LoopTimer?
    private var lastMove: MonotonicInstant
    private var lastReport: MonotonicInstant?
    private var hasMoved = false
    private var isPumping = false

    init(
        _ channel: StreamChannel, on streamLoop: StreamLoop, times: StreamTimes,
        report: @escaping (StreamHandle.Event) -> Void
    ) throws(Errno) {
        let descriptor = try channel.takeDescriptor()
        let raw = descriptor.raw
        self.streamLoop = streamLoop
        self.times = times
        self.report = report
        session = channel.session
        socket = .some(descriptor)
        lastMove = streamLoop.loop.now
        socketSource = try streamLoop.loop.watch(raw, []) { [weak self] in self?.socketReady($0) }
        deadline = streamLoop.loop.timer(after: times.greeting) { [weak self] in self?.deadlinePassed() }
        streamLoop.add(self)
    }

    deinit {
        // Before the descriptors, the last of which closes with its property.
        socketSource?.cancel()
        localSource?.cancel()
        closeLocal()
    }

    // MARK: Commands

    /// Begins.
    func start(_ greeting: StreamHandle.Greeting) {
        switch greeting {
        case .await: state = .awaitingTicket([])
        case .show(let ticket):
            guard write(ticket) else { return }
            isUnanswered = true
            open()
        }
        pump()
    }

    /// The ticket is good.
    func accept() {
        guard case .judging = state else { return }
        open()
        pump()
    }

    /// The ticket is not good: nothing is said.
    func refuse() {
        guard case .judging = state else { return }
        end(.gone("the ticket was not taken"))
    }

    /// Takes the app's end.
    func attach(_ handed: HandedDescriptor) {
        guard case .open = state, local == nil, let descriptor = handed.take() else { return }
        let raw = descriptor.raw
        do throws(Errno) {
            try SystemCall.setNonBlocking(raw)
            UnixSocket.widen(raw)
            localSource = try streamLoop.loop.watch(raw, []) { [weak self] in self?.localReady($0) }
        } catch {
            return reset(.failed)
        }
        local = .some(descriptor)
        passer = handed.passer
        memory = handed.memory
        lastMove = streamLoop.loop.now
        pump()
    }

    /// Ends the stream before its time, on both sides.
    func reset(_ reset: StreamReset) {
        end(.resetHere(reset))
    }

    /// Ends it without a word: the loop ends.
    func drop() {
        guard !isOver else { return close() }
        state = .parting
        let report = report(of: .resetHere(.stopping))
        endParts(report)
        self.report(.ended(report))
        close()
    }

    /// Gives memory back if nothing has moved since the last call.
    /// - Returns: whether it did.
    func cool() -> Bool {
        if hasMoved {
            hasMoved = false
            return false
        }
        session.releaseMemory()
        incoming.releaseMemory()
        memory?.writer.releaseMemory()
        return true
    }

    // MARK: Events

    private var isOver: Bool {
        switch state {
        case .parting, .closed: true
        case .awaitingTicket, .judging, .open: false
        }
    }

    func open() {
        state = .open
        lastMove = streamLoop.loop.now
        deadline?.rearm(after: times.idle)
    }

    private func deadlinePassed() {
        switch state {
        case .awaitingTicket, .judging: end(.gone("the other side showed no ticket in time"))
        case .open:
            let limit = isAppGone ? times.orphaned : times.idle
            let rest = limit - lastMove.duration(to: streamLoop.loop.now)
            if rest > .zero { deadline?.rearm(after: rest) } else { reset(isAppGone ? .cancelled : .idle) }
        case .parting, .closed: close()
        }
    }

    private func socketReady(_ events: IOEvents) {
        if !events.isDisjoint(with: [.readable, .readHangUp, .hangUp, .error]), wantsInput { receive() }
        pump()
    }

    /// The app's socket has something to tell. It hangs up when both directions of it are over; as long as ours is open for
    /// writing, only because the app has closed it.
    private func localReady(_ events: IOEvents) {
        if memory != nil {
            listen(events)
        } else if events.contains(.hangUp), !incoming.isEndDelivered {
            isAppGone = true
        }
        pump()
    }

    /// Whether ciphertext is of use now.
    private var wantsInput: Bool {
        guard !isSocketOver else { return false }
        switch state {
        case .awaitingTicket, .parting: return true
        case .judging, .closed: return false
        case .open: return local != nil && !incoming.isWaiting && incoming.reset == nil && !isHeldForRoom
        }
    }

    /// How much ciphertext may be taken now: memory for bulk data is for streams that have it.
    private var room: Int {
        switch state {
        case .awaitingTicket, .judging, .parting, .closed: Self.greetingRoom
        case .open: memory == nil ? streamLoop.chunk : streamLoop.sharedChunk
        }
    }

    /// Takes what TCP has, once. Returns whether something came.
    @discardableResult
    func receive() -> Bool {
        guard let raw = socket?.raw else { return false }
        var outcome = Result<Int, Errno>.success(0)
        session.receive(upTo: room) { buffer in
            outcome = Result { () throws(Errno) in
                try SystemCall.retrying { recv(raw, buffer.baseAddress, buffer.count, 0) }
            }
            return (try? outcome.get()) ?? 0
        }
        switch outcome {
        case .success(0): isSocketOver = true
        case .success: return true
        case .failure(.wouldBlock): break
        case .failure(let error):
            isSocketOver = true
            socketError = error
        }
        return false
    }

    /// Moves what can be moved now, a chunk each way at most, so that the other streams have their turn; then sets what is
    /// watched for.
    func pump() {
        guard !isPumping else { return }
        isPumping = true
        takeIncoming()
        // What nobody takes any more is better left with the app.
        if !isUnanswered || !isSocketOver && !isSessionOver { sendOutgoing() }
        isPumping = false
        settle()
        watch()
    }

    /// Derives what to watch for from the state. The only place that sets it.
    private func watch() {
        var events: IOEvents = []
        if wantsInput { events.insert(.readable) }
        if session.waitingCiphertext > 0, socket != nil { events.insert(.writable) }
        socketSource?.setEvents(events)
        events = []
        if let memory {
            events = watch(memory)
        } else if case .open = state {
            if wantsOutput, session.waitingCiphertext == 0, !isSendingFile { events.insert(.readable) }
            if incoming.isWaiting, !isReceivingFile { events.insert(.writable) }
            // Then nothing else would show that the app has gone.
            if events.isEmpty, !incoming.isEndDelivered, !isAppGone { events.insert(.hangUp) }
        }
        localSource?.setEvents(events)
    }

    /// Whether the other side still takes what the app sends.
    var wantsOutput: Bool { !outgoing.hasEnded && incoming.reset == nil }

    // MARK: Ending

    /// Looks whether the stream has come to its end.
    private func settle() {
        guard session.waitingCiphertext <= Self.maxCiphertext else {
            let cause = "the other side asks without end, and takes no answer"
            return isOver ? close() : end(.gone(cause))
        }
        switch state {
        case .closed, .judging: return
        case .parting:
            if sendCiphertext(), let raw = socket?.raw { _ = shutdown(raw, Int32(SHUT_WR)) }
            if isSocketOver || isSessionOver && session.waitingCiphertext == 0 { close() }
        case .awaitingTicket:
            if isSocketOver || isSessionOver { end(.gone(socketError?.description ?? "the other side closed it")) }
        case .open:
            let isDelivered = incoming.isEndDelivered && !incoming.isWaiting
            let isSent = outgoing.hasEnded && session.waitingCiphertext == 0
            if let reset = incoming.reset {
                if isDelivered || !incoming.hasEnded { end(.resetThere(reset)) }
            } else if isDelivered, isSent {
                end(.ended)
            } else if isAppGone, isSent || isSendingFile {
                // What it wrote before it closed has left, with the end of its direction.
                reset(.cancelled)
            } else if isSocketOver || isSessionOver, !incoming.isWaiting, local != nil, !isHeldForRoom {
                cut(socketError?.description ?? "the connection was cut")
            }
        }
    }

    /// The connection is gone. What a client sent before the first word came may have reached nobody, or the other app: it is
    /// not sent again. Where it has sent nothing, the app need not know.
    func cut(_ cause: String) {
        guard isUnanswered else { return end(.gone(cause)) }
        let isUntouched =
            outgoing.count == 0 && !outgoing.hasEnded && !isAppGone && sending == nil && receiving == nil
        guard case .open = state, isUntouched, let untouched = local.take() else {
            return end(.gone("the other side said nothing, and may not have taken the stream: \(cause)"))
        }
        let handed = HandedDescriptor(untouched, passer: passer, memory: memory)
        localSource?.cancel()
        localSource = nil
        close()
        report(.untaken(handed, cause))
    }

    /// The stream is over: reports it, lets go of the app, and takes leave of the other side as far as that hears us.
    func end(_ end: StreamEnd) {
        guard !isOver else { return }
        let wasOpen = if case .open = state { true } else { false }
        state = .parting
        let report = report(of: end)
        endParts(report)
        self.report(.ended(report))
        localSource?.cancel()
        localSource = nil
        closeLocal()
        switch end {
        case .ended:
            session.close()
            depart()
        case .resetHere(let reset) where wasOpen:
            do throws(TLSError) {
                try session.write(StreamWord.reset(reset).bytes)
                session.close()
                depart()
            } catch {
                close()
            }
        case .resetHere, .resetThere, .gone: close()
        }
    }

    /// Sends the last bytes, and waits until the other side has ended too: closing with unread bytes would make TCP reset the
    /// connection, and destroy what the other side has not read yet.
    private func depart() {
        incoming.releaseMemory()
        guard let deadline else { return close() }
        deadline.rearm(after: times.linger)
        settle()
        if !isPumping { watch() }
    }

    func close() {
        state = .closed
        deadline = nil
        socketSource?.cancel()
        socketSource = nil
        socket = nil
        localSource?.cancel()
        localSource = nil
        closeLocal()
        streamLoop.remove(self)
    }

    /// Lets go of the app's end, in which there may be more than bytes.
    private func closeLocal() {
        if let former = local.take() { LocalSocket.close(former, from: passer) }
        memory = nil
    }

    func report(of end: StreamEnd) -> StreamReport {
        StreamReport(end: end, sent: outgoing.count, received: incoming.count)
    }

    func moved() {
        if !hasMoved {
            hasMoved = true
            streamLoop.warmed(self)
        }
        let now = streamLoop.loop.now
        lastMove = now
        if let lastReport, lastReport.duration(to: now) < Self.movedInterval { return }
        lastReport = now
        report(.moved)
    }
}
