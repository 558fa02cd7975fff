internal import Glibc
internal import HandoffTLS
internal import LoopIO

/// One stream: TLS over TCP on one side, a unix socket of an app on the other. On its stream loop only.
///
/// Back-pressure needs no messages: bytes are taken from one side only when the other has taken all that came before, so
/// what waits is at most a chunk each way. States: `docs/state-machines/stream.md`.
final class StreamConnection {
    private enum State {
        /// The state while the client's ticket is awaited; how much of it is here.
        case awaitingTicket([UInt8])
        /// The state while the daemon judges the ticket.
        case judging
        /// The state while the server's answer to our ticket is awaited.
        case awaitingAnswer
        /// The state while bytes flow.
        case open
        /// The state once it was reported as over, while the last bytes leave.
        case parting
        /// The state once everything is closed.
        case closed
    }

    /// The answer to a good ticket.
    private static let acceptance: UInt8 = 1
    /// How long a ticket is.
    static let ticketSize = 16
    /// Ciphertext that may wait: of one frame, and answers to key updates, of which an honest side asks few.
    private static let mostCiphertext = StreamWord.maximumData + StreamWord.maximumData / 4
    /// Room for a ticket or its answer, in records of any size.
    private static let greetingRoom = 1024
    private static let movedInterval = Duration.seconds(1)

    let streamLoop: StreamLoop
    let session: TLSSession
    private let times: StreamTimes
    private let report: (StreamHandle.Event) -> Void
    private var state = State.judging
    private var socket: Descriptor?
    private var socketSource: EventSource?
    /// The app's end.
    private var local: Descriptor?
    private var localSource: EventSource?
    /// The app has closed its end before both directions had ended.
    private var isAppGone = false
    private var incoming = IncomingBytes()
    private var outgoing = OutgoingBytes()
    /// The file that takes the place of the app's socket in either direction, now or from its position on.
    private var sending: SendingPart?
    private var receiving: ReceivingPart?
    /// TCP gives no more bytes: the other side has ended it, or it has failed.
    private var isSocketOver = false
    private var socketError: Errno?
    /// TLS was ended by the other side (close_notify).
    private var isSessionOver = false
    private var deadline: LoopTimer?
    private var lastMove: LoopInstant
    private var lastReport: LoopInstant?
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
        deadline = try streamLoop.loop.timer(after: times.greeting) { [weak self] in self?.deadlinePassed() }
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
            state = .awaitingAnswer
            guard write(ticket) else { return }
        }
        pump()
    }

    /// The ticket is good.
    func accept() {
        guard case .judging = state else { return }
        guard write([Self.acceptance]) else { return }
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
        lastMove = streamLoop.loop.now
        pump()
    }

    /// Puts a file in the place of the app's socket for a part of a direction.
    func pass(_ part: FilePart, report: @escaping (FilePart.Event) -> Void) {
        guard case .open = state, local != nil else { return report(.failed(0, "the stream is not open")) }
        let loop = streamLoop.loop
        do throws(Errno) {
            switch part.direction {
            case .send:
                guard sending == nil, part.position >= outgoing.count, !outgoing.hasEnded else {
                    return report(.positionPassed(outgoing.count))
                }
                let running = try SendingPart(sending: part, on: loop, report: report)
                running.reader.onBlock = { [weak self] in self?.pump() }
                running.reader.onEnd = { [weak self] in self?.sendingEnded(after: $0) }
                running.reader.onFailed = { [weak self] in self?.sendingFailed("\($0)") }
                sending = running
            case .receive:
                guard receiving == nil, part.position >= incoming.delivered, !incoming.isEndDelivered else {
                    return report(.positionPassed(incoming.delivered))
                }
                let running = try ReceivingPart(receiving: part, on: loop, report: report)
                running.writer.onRoom = { [weak self] in self?.pump() }
                running.writer.onFailed = { [weak self] in self?.receivingFailed("\($0)") }
                receiving = running
                // Of nothing it is complete at once, when its place is reached.
                takeUpReceiving()
            }
        } catch {
            return report(.failed(0, error == .wouldBlock ? "too many files are being read or written" : "\(error)"))
        }
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
        return true
    }

    // MARK: Events

    private var isOver: Bool {
        switch state {
        case .parting, .closed: true
        case .awaitingTicket, .judging, .awaitingAnswer, .open: false
        }
    }

    private func open() {
        state = .open
        lastMove = streamLoop.loop.now
        deadline?.rearm(after: times.idle)
    }

    private func deadlinePassed() {
        switch state {
        case .awaitingTicket, .judging, .awaitingAnswer: end(.gone("the other side did not answer in time"))
        case .open:
            let rest = times.idle - lastMove.duration(to: streamLoop.loop.now)
            if rest > .zero { deadline?.rearm(after: rest) } else { reset(.idle) }
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
        if events.contains(.hangUp), !incoming.isEndDelivered { isAppGone = true }
        pump()
    }

    /// Whether ciphertext is of use now.
    private var wantsInput: Bool {
        guard !isSocketOver else { return false }
        switch state {
        case .awaitingTicket, .awaitingAnswer, .parting: return true
        case .judging, .closed: return false
        case .open: return local != nil && !incoming.isWaiting && incoming.reset == nil
        }
    }

    /// How much ciphertext may be taken now: memory for bulk data is for streams that have it.
    private var room: Int {
        switch state {
        case .awaitingTicket, .awaitingAnswer, .judging, .parting, .closed: Self.greetingRoom
        case .open: streamLoop.chunk
        }
    }

    /// Takes what TCP has, once. Returns whether something came.
    @discardableResult
    private func receive() -> Bool {
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
    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        takeIncoming()
        sendOutgoing()
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
        if case .open = state {
            if wantsOutput, session.waitingCiphertext == 0, !isSendingFile { events.insert(.readable) }
            if incoming.isWaiting, !isReceivingFile { events.insert(.writable) }
            // Then nothing else would show that the app has gone.
            if events.isEmpty, !incoming.isEndDelivered, !isAppGone { events.insert(.hangUp) }
        }
        localSource?.setEvents(events)
    }

    /// Whether the other side still takes what the app sends.
    private var wantsOutput: Bool { !outgoing.hasEnded && incoming.reset == nil }

    // MARK: From the other device

    private func takeIncoming() {
        if case .open = state, !deliver() { return }
        reading: while true {
            switch state {
            case .awaitingTicket, .awaitingAnswer: guard takeGreeting() else { break reading }
            case .open:
                guard local != nil, !incoming.isWaiting, incoming.reset == nil else { break reading }
                guard takeFrames() else { break reading }
            case .parting:
                guard case .bytes = read(into: streamLoop.scratch) else { break reading }
            case .judging, .closed: break reading
            }
        }
    }

    /// Reads a ticket, or the answer to ours. Returns whether there may be more.
    private func takeGreeting() -> Bool {
        switch state {
        case .awaitingTicket(let begun):
            let room = UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<(Self.ticketSize - begun.count)])
            guard case .bytes(let count) = read(into: room) else { return false }
            let ticket = begun + room[..<count]
            guard ticket.count == Self.ticketSize else {
                state = .awaitingTicket(ticket)
                return true
            }
            state = .judging
            report(.ticket(ticket))
            return false
        case .awaitingAnswer:
            let room = UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<1])
            guard case .bytes = read(into: room) else { return false }
            guard room[0] == Self.acceptance else {
                end(.gone("the other side gave an answer without meaning"))
                return false
            }
            open()
            report(.accepted)
            return true
        case .judging, .open, .parting, .closed: return false
        }
    }

    /// Decrypts what is here and hands it to the app. Returns whether there may be more.
    private func takeFrames() -> Bool {
        guard case .bytes(let count) = read(into: streamLoop.scratch) else { return false }
        moved()
        let (data, isWhole) = incoming.parse(UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<count]))
        for range in data {
            guard give(UnsafeRawBufferPointer(rebasing: streamLoop.scratch[range])) else { return false }
        }
        if incoming.reset != nil {
            // An app that closed after its last byte has sent all that it had: that is given before the stream is over.
            if incoming.hasEnded { _ = deliver() }
            return false
        }
        guard isWhole else {
            end(.gone("the other side broke the protocol"))
            return false
        }
        return deliver()
    }

    /// Reads plaintext; notices the end.
    private func read(into room: UnsafeMutableRawBufferPointer) -> TLSReadCount {
        do throws(TLSError) {
            let outcome = try session.read(into: room)
            if case .closed = outcome { isSessionOver = true }
            return outcome
        } catch {
            if case .parting = state { close() } else { end(.gone("\(error)")) }
            return .wouldBlock
        }
    }

    /// Gives bytes to the app; what it does not take waits. Returns false when the app is gone.
    private func give(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !incoming.isWaiting else {
            incoming.wait(bytes)
            return true
        }
        guard let taken = put(bytes) else { return false }
        if taken < bytes.count { incoming.wait(UnsafeRawBufferPointer(rebasing: bytes[taken...])) }
        return true
    }

    /// Whether what arrives now goes to a file.
    private var isReceivingFile: Bool {
        receiving.map { incoming.delivered >= $0.position } ?? false
    }

    /// Puts bytes where they belong. Returns how many were taken, or nil when the stream is over by that.
    private func put(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let wanted: Int
            let taken: Int
            if let receiving, isReceivingFile {
                wanted = receiving.remaining(upTo: rest.count)
                taken = receiving.write(rest)
                if taken > 0 { moved() }
            } else {
                let limit = receiving.map { Int(clamping: $0.position - incoming.delivered) } ?? rest.count
                wanted = min(limit, rest.count)
                guard let written = writeLocally(UnsafeRawBufferPointer(rebasing: rest[..<wanted])) else { return nil }
                taken = written
            }
            incoming.delivered &+= UInt64(taken)
            done += taken
            takeUpReceiving()
            if taken < wanted { break }
        }
        return done
    }

    /// Lets go of a file that has got all that is its own.
    private func takeUpReceiving() {
        guard isReceivingFile, let part = receiving, part.isComplete else { return }
        receiving = nil
        finish(part)
    }

    private func finish(_ part: ReceivingPart) {
        part.writer.finish { [weak self] result in
            switch result {
            case .success(let total): part.end(.done(total))
            case .failure(let error):
                part.end(.failed(part.moved, "\(error)"))
                self?.reset(.failed)
            }
        }
    }

    private func receivingFailed(_ cause: String) {
        guard let part = receiving else { return }
        receiving = nil
        part.writer.cancel()
        part.end(.failed(part.moved, cause))
        reset(.failed)
    }

    /// Gives the app what waits for it, and the end after it. Returns false when the stream is over by that.
    private func deliver() -> Bool {
        guard local != nil else { return true }
        if incoming.isWaiting {
            let (bytes, start) = incoming.takeWaiting()
            let taken = bytes.withUnsafeBytes { put(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            guard let taken else { return false }
            incoming.putBack(bytes, from: start + taken)
        }
        guard incoming.takeEnd() else { return true }
        if let raw = local?.raw {
            // Fails only when the app has closed its end, which reading shows.
            _ = shutdown(raw, Int32(SHUT_WR))
        }
        guard let part = receiving else { return true }
        let isWhole = part.length == nil && isReceivingFile
        receiving = nil
        guard !isWhole else {
            finish(part)
            return true
        }
        // What came is in the file all the same. How the stream itself ends is the other side's word.
        let cause = "the other side ended before, after \(incoming.delivered) bytes of its direction"
        part.writer.finish { _ in part.end(.failed(part.moved, cause)) }
        return true
    }

    /// Returns how many bytes the app took, or nil when it is gone, by which the stream is over.
    private func writeLocally(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let raw = local?.raw else { return 0 }
        do throws(Errno) {
            let taken = try SystemCall.retrying {
                Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            moved()
            return taken
        } catch .wouldBlock {
            return 0
        } catch {
            reset(.cancelled)
            return nil
        }
    }

    // MARK: To the other device

    private func sendOutgoing() {
        guard sendCiphertext(), case .open = state, wantsOutput, let raw = local?.raw else { return }
        guard !isSendingFile else { return sendFile() }
        let room = UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[StreamWord.byteCount...])
        let untilFile = sending.map { Int(clamping: $0.position - outgoing.count) } ?? .max
        let wanted = min(room.count, streamLoop.chunk, untilFile)
        let count: Int
        do throws(Errno) {
            let passed: [PassedFile]?
            (count, passed) = try LocalSocket.receive(
                from: raw, into: UnsafeMutableRawBufferPointer(rebasing: room[..<wanted]))
            // Descriptors have no place in a stream of bytes.
            guard passed == nil else { return reset(.cancelled) }
        } catch .wouldBlock {
            return
        } catch {
            return reset(.cancelled)
        }
        if count > 0 {
            send(.data(count))
        } else {
            isAppGone = isAppGone || hasHungUp(raw)
            outgoing.hasEnded = true
            send(.end)
            sending?.reader.cancel()
            sending?.end(.positionPassed(outgoing.count))
            sending = nil
        }
        // The place of a file may be reached by that, and its reader has said already that there is something.
        if sendCiphertext(), isSendingFile { pumpLater() }
    }

    /// Whether the app has closed its end, and not only ended its direction: the end of file looks the same.
    private func hasHungUp(_ raw: Int32) -> Bool {
        guard !incoming.isEndDelivered else { return false }
        var status = pollfd(fd: raw, events: 0, revents: 0)
        return poll(&status, 1, 0) == 1 && status.revents & Int16(POLLHUP) != 0
    }

    /// Whether the next bytes to be sent are those of a file.
    private var isSendingFile: Bool {
        sending.map { outgoing.count >= $0.position } ?? false
    }

    /// Sends the next block of the file, if it was read already.
    private func sendFile() {
        guard let sending, let block = sending.reader.take() else { return }
        let count = block.count
        guard count > 0 else { return sending.reader.recycle(block) }
        do throws(TLSError) {
            try session.write(StreamWord.data(count).bytes)
            try block.withUnsafeBytes { (bytes) throws(TLSError) in try session.write(bytes) }
        } catch {
            return end(.gone("\(error)"))
        }
        outgoing.count &+= UInt64(count)
        sending.sent(count)
        sending.reader.recycle(block)
        moved()
        // The reader may have said once that two blocks are there; the other one has its turn after the other streams.
        if sendCiphertext() { pumpLater() }
    }

    private func pumpLater() {
        streamLoop.loop.later { [weak self] in self?.pump() }
    }

    /// All of the file was sent, or it has ended before.
    private func sendingEnded(after total: Int64) {
        guard let part = sending else { return }
        if let length = part.length, total < length {
            return sendingFailed("it ended after \(total) of \(length) bytes")
        }
        sending = nil
        part.end(.done(total))
        pump()
    }

    private func sendingFailed(_ cause: String) {
        guard let part = sending else { return }
        sending = nil
        part.reader.cancel()
        part.end(.failed(part.moved, cause))
        reset(.failed)
    }

    /// Encrypts a word, and the data that stands behind it in the scratch memory.
    private func send(_ word: StreamWord) {
        streamLoop.scratch.storeBytes(of: word.word.bigEndian, as: UInt32.self)
        var count = StreamWord.byteCount
        if case .data(let size) = word {
            count += size
            outgoing.count &+= UInt64(size)
        }
        moved()
        do throws(TLSError) {
            try session.write(UnsafeRawBufferPointer(rebasing: streamLoop.scratch[..<count]))
        } catch {
            end(.gone("\(error)"))
        }
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        do throws(TLSError) {
            try session.write(bytes)
            return true
        } catch {
            end(.gone("\(error)"))
            return false
        }
    }

    /// Hands ciphertext to TCP. Returns whether it took all.
    private func sendCiphertext() -> Bool {
        guard session.waitingCiphertext > 0 else { return true }
        guard let raw = socket?.raw else { return false }
        var failure: Errno?
        session.drainCiphertext { bytes in
            do throws(Errno) {
                return try SystemCall.retrying {
                    Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
            } catch {
                if error != .wouldBlock { failure = error }
                return 0
            }
        }
        if let failure { sendingFailed(failure) }
        return session.waitingCiphertext == 0
    }

    /// The other side takes no more: whether it had said why is in what it sent before.
    private func sendingFailed(_ error: Errno) {
        switch state {
        case .closed: return
        case .parting: return close()
        case .awaitingTicket, .judging, .awaitingAnswer: return end(.gone("\(error)"))
        case .open: break
        }
        // TLS may hold more than one step reads, and TCP more than one record.
        while case .open = state {
            guard case .bytes(let count) = read(into: streamLoop.scratch) else {
                guard !isSocketOver, receive() else { break }
                continue
            }
            // Bytes for the app are not given any more: it would take them for all there are.
            let (_, isWhole) = incoming.parse(UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<count]))
            if let reset = incoming.reset { return end(.resetThere(reset)) }
            guard isWhole else { break }
        }
        end(.gone("\(error)"))
    }

    // MARK: Ending

    /// Looks whether the stream has come to its end.
    private func settle() {
        guard session.waitingCiphertext <= Self.mostCiphertext else {
            let cause = "the other side asks without end, and takes no answer"
            return isOver ? close() : end(.gone(cause))
        }
        switch state {
        case .closed, .judging: return
        case .parting:
            if sendCiphertext(), let raw = socket?.raw { _ = shutdown(raw, Int32(SHUT_WR)) }
            if isSocketOver || isSessionOver && session.waitingCiphertext == 0 { close() }
        case .awaitingTicket, .awaitingAnswer:
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
            } else if isSocketOver || isSessionOver, !incoming.isWaiting, local != nil {
                end(.gone(socketError?.description ?? "the connection was cut"))
            }
        }
    }

    /// The stream is over: reports it, lets go of the app, and takes leave of the other side as far as that hears us.
    private func end(_ end: StreamEnd) {
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

    /// Files get what was received for them; then their owners learn that the stream is over.
    private func endParts(_ report: StreamReport) {
        if let part = sending {
            part.reader.cancel()
            part.end(.over(part.moved, report))
        }
        receiving?.finish(over: report, within: times.farewell, on: streamLoop.loop)
        sending = nil
        receiving = nil
    }

    /// Sends the last bytes, and waits until the other side has ended too: closing with unread bytes would make TCP reset the
    /// connection, and destroy what the other side has not read yet.
    private func depart() {
        incoming.releaseMemory()
        guard let deadline else { return close() }
        deadline.rearm(after: times.farewell)
        settle()
        if !isPumping { watch() }
    }

    private func close() {
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
        if let former = local.take() { LocalSocket.close(former) }
    }

    private func report(of end: StreamEnd) -> StreamReport {
        StreamReport(end: end, sent: outgoing.count, received: incoming.count)
    }

    private func moved() {
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
