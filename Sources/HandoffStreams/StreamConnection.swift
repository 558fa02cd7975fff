internal import Glibc
internal import HandoffCrypto
import HandoffModel
internal import LoopIO

/// One stream: TLS over TCP on one side, the unix socket of an app on the other. To be used only on
/// its stream loop.
///
/// Back-pressure needs no messages. Bytes are read from one side only after the other has accepted
/// all earlier ones, so at most one chunk is buffered in each direction. States:
/// `docs/state-machines/stream.md`.
final class StreamConnection {
    enum State {
        /// Waiting for the client's ticket. The value is the part received so far.
        case awaitingTicket([UInt8])
        /// Waiting for the daemon to check the ticket.
        case judging
        /// Moving bytes.
        case open
        /// Reported as ended, while the last bytes are being sent.
        case parting
        /// Everything is closed.
        case closed
    }

    /// The length of a ticket in bytes.
    static let ticketSize = 16
    /// The maximum buffered ciphertext: one frame, and replies to key updates, of which an honest
    /// peer requests few.
    private static let maxCiphertext = StreamWord.maxData + StreamWord.maxData / 4
    /// Buffer size for a ticket, in records of any size.
    private static let greetingRoom = 1024
    /// Buffer size of an open stream until so much arrives at once.
    private static let firstRoom = 16 * 1024
    private static let movedInterval = Duration.seconds(1)
    /// The number of bytes from which a stream is one of bulk data.
    private static let bulkSize: UInt64 = 16 * 1024 * 1024

    let streamLoop: StreamLoop
    let session: TLSSession
    let times: StreamTimes
    let report: (StreamHandle.Event) -> Void
    var state = State.judging
    var socket: Descriptor?
    private var socketSource: EventSource?
    /// The app's end.
    var local: Descriptor?
    /// The process that may pass descriptors at `local`.
    private(set) var passer = DescriptorSource.unnamed
    private var localSource: EventSource?
    /// True if the app has closed its end before both directions had ended.
    var isAppGone = false {
        didSet {
            // From now on, a stalled stream must not hold resources such as shared memory for long.
            if isAppGone, !oldValue, case .open = state { deadline?.rearm(after: times.orphaned) }
        }
    }
    var incoming = IncomingBytes()
    var outgoing = OutgoingBytes()
    /// The memory that replaces the app's socket in both directions, if the app shares any.
    var memory: LocalMemory?
    /// True if received data stays encrypted because the app had no room for it in the memory.
    /// Determined once per step: the app may make room at any moment, and rings only if it knows
    /// that this side waits.
    var isHeldForRoom = false
    /// The file that replaces the app's socket in each direction, now or from its position on.
    var sending: SendingPart?
    var receiving: ReceivingPart?
    /// True if TCP delivers no more bytes because the other side ended it or it failed.
    var isSocketOver = false
    var socketError: Errno?
    /// True if the other side has ended TLS (close_notify).
    var isSessionOver = false
    /// True if a ticket has been sent but no word received, so it is unknown whether the ticket was
    /// accepted.
    var isUnanswered = false
    /// True if so much has arrived at once, since memory was last released, that a whole chunk is received.
    private var hasFilledRoom = false
    private var deadline: LoopTimer?
    private var lastMove: MonotonicInstant
    private var lastReport: MonotonicInstant?
    private var hasMoved = false
    private var isBulk = false
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
        // Must precede closing the descriptors. The last one is closed with its property.
        socketSource?.cancel()
        localSource?.cancel()
        closeLocal()
    }

    // MARK: Commands

    /// Starts the stream.
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

    /// Accepts the client's ticket.
    func accept() {
        guard case .judging = state else { return }
        open()
        pump()
    }

    /// Rejects the client's ticket by closing the connection without a reply.
    func refuse() {
        guard case .judging = state else { return }
        end(.gone("the ticket was rejected"))
    }

    /// Attaches the app's end.
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

    /// Ends the stream early, on both sides.
    func reset(_ reset: StreamReset) {
        end(.resetHere(reset))
    }

    /// Ends the stream without sending a reset, because the loop is stopping.
    func drop() {
        guard !isOver else { return close() }
        state = .parting
        let report = report(of: .resetHere(.stopping))
        endParts(report)
        self.report(.ended(report))
        close()
    }

    /// Releases memory if nothing has moved since the last call.
    /// - Returns: true if memory was released.
    func cool() -> Bool {
        if hasMoved {
            hasMoved = false
            return false
        }
        hasFilledRoom = false
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
        case .awaitingTicket, .judging: end(.gone("the other side did not send a ticket in time"))
        case .open:
            let limit = isAppGone ? times.orphaned : times.idle
            let rest = limit - lastMove.duration(to: streamLoop.loop.now)
            if rest > .zero { deadline?.rearm(after: rest) } else { reset(isAppGone ? .cancelled : .idle) }
        case .parting, .closed: close()
        }
    }

    private func socketReady(_ events: IOEvents) {
        if !events.isDisjoint(with: [.readable, .readHangUp, .hangUp, .error]), wantsInput { receive() }
        pump(events == .readable ? .incoming : .both)
    }

    /// Handles an event of the app's socket. The socket hangs up when both of its directions have
    /// ended. While this side can still write, only the app can have closed it.
    private func localReady(_ events: IOEvents) {
        if memory != nil {
            listen(events)
        } else if events.contains(.hangUp), !incoming.isEndDelivered {
            isAppGone = true
        }
        pump(events == .readable && memory == nil ? .outgoing : .both)
    }

    /// True if more ciphertext can be processed now.
    private var wantsInput: Bool {
        guard !isSocketOver else { return false }
        switch state {
        case .awaitingTicket, .parting: return true
        case .judging, .closed: return false
        case .open: return local != nil && !incoming.isWaiting && incoming.reset == nil && !isHeldForRoom
        }
    }

    /// The maximum ciphertext to receive now. Only streams with bulk data use memory for it: to allocate
    /// and clear a whole chunk for the first key after a pause takes longer than to send the key.
    private var room: Int {
        switch state {
        case .awaitingTicket, .judging, .parting, .closed: return Self.greetingRoom
        case .open:
            let chunk = memory == nil ? streamLoop.chunk : streamLoop.sharedChunk
            return hasFilledRoom ? chunk : min(Self.firstRoom, chunk)
        }
    }

    /// Receives from TCP once. Returns true if any bytes arrived.
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
        case .success(let count):
            if count >= Self.firstRoom { hasFilledRoom = true }
            return true
        case .failure(.wouldBlock): break
        case .failure(let error):
            isSocketOver = true
            socketError = error
        }
        return false
    }

    /// The directions in which an event can move bytes.
    enum Directions {
        case incoming, outgoing, both
    }

    /// Moves what can be moved now, at most one chunk each way so that other streams get their
    /// turn, then updates the watched events.
    /// - Parameter directions: the other one is not tried, which costs a typed key a tenth of its
    ///   time. Its own events are still reported.
    func pump(_ directions: Directions = .both) {
        guard !isPumping else { return }
        isPumping = true
        if directions != .outgoing { takeIncoming() }
        // Bytes that will not be accepted stay with the app.
        if directions != .incoming, !isUnanswered || !isSocketOver && !isSessionOver { sendOutgoing() }
        isPumping = false
        settle()
        watch()
    }

    /// Derives the watched events from the state. No other code sets them.
    private func watch() {
        var events: IOEvents = []
        if wantsInput { events.insert(.readable) }
        if session.pendingCiphertext > 0, socket != nil { events.insert(.writable) }
        socketSource?.setEvents(events)
        events = []
        if let memory {
            events = watch(memory)
        } else if case .open = state {
            if wantsOutput, session.pendingCiphertext == 0, !isSendingFile { events.insert(.readable) }
            if incoming.isWaiting, !isReceivingFile { events.insert(.writable) }
            // Nothing else would show that the app has closed its end.
            if events.isEmpty, !incoming.isEndDelivered, !isAppGone { events.insert(.hangUp) }
        }
        localSource?.setEvents(events)
    }

    /// True if the other side still accepts the app's bytes.
    var wantsOutput: Bool { !outgoing.hasEnded && incoming.reset == nil }

    // MARK: Ending

    /// Checks whether the stream has ended.
    private func settle() {
        guard session.pendingCiphertext <= Self.maxCiphertext else {
            let cause = "the other side keeps sending requests without reading the replies"
            return isOver ? close() : end(.gone(cause))
        }
        switch state {
        case .closed, .judging: return
        case .parting:
            if sendCiphertext(), let raw = socket?.raw { _ = shutdown(raw, Int32(SHUT_WR)) }
            if isSocketOver || isSessionOver && session.pendingCiphertext == 0 { close() }
        case .awaitingTicket:
            if isSocketOver || isSessionOver { end(.gone(socketError?.description ?? "the other side closed it")) }
        case .open:
            let isDelivered = incoming.isEndDelivered && !incoming.isWaiting
            let isSent = outgoing.hasEnded && session.pendingCiphertext == 0
            if let reset = incoming.reset {
                if isDelivered || !incoming.hasEnded { end(.resetThere(reset)) }
            } else if isDelivered, isSent {
                end(.ended)
            } else if isAppGone, isSent || isSendingFile {
                // Everything the app wrote before it closed its end has been sent, including the
                // end of its direction.
                reset(.cancelled)
            } else if isSocketOver || isSessionOver, !incoming.isWaiting, local != nil, !isHeldForRoom {
                cut(socketError?.description ?? "the connection was cut")
            }
        }
    }

    /// Handles a lost connection. Bytes that a client sent before the first word may have been lost
    /// or may have reached the app, so they are not sent again. If it has sent none, the app is not
    /// notified.
    func cut(_ cause: String) {
        guard isUnanswered else { return end(.gone(cause)) }
        let isUntouched =
            outgoing.count == 0 && !outgoing.hasEnded && !isAppGone && sending == nil && receiving == nil
        guard case .open = state, isUntouched, let untouched = local.take() else {
            return end(.gone("the other side did not reply, and may not have accepted the stream: \(cause)"))
        }
        let handed = HandedDescriptor(untouched, passer: passer, memory: memory)
        localSource?.cancel()
        localSource = nil
        close()
        report(.untaken(handed, cause))
    }

    /// Ends the stream: reports it, releases the app's end, and notifies the other side if it can
    /// still receive.
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
            sendLastBytes()
        case .resetHere(let reset) where wasOpen:
            do throws(TLSError) {
                try session.write(StreamWord.reset(reset).bytes)
                session.close()
                sendLastBytes()
            } catch {
                close()
            }
        case .resetHere, .resetThere, .gone: close()
        }
    }

    /// Sends the last bytes, and waits until the other side has ended too. If the socket were
    /// closed with unread bytes, TCP would reset the connection and discard what the other side has
    /// not read yet.
    private func sendLastBytes() {
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

    /// Closes the app's end, in which descriptors may be pending.
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
        if !isBulk, outgoing.count + incoming.count > Self.bulkSize {
            isBulk = true
            streamLoop.becomeBulk()
        }
        let now = streamLoop.loop.now
        lastMove = now
        if let lastReport, lastReport.duration(to: now) < Self.movedInterval { return }
        lastReport = now
        report(.moved)
    }
}
