/// One transfer as the receiver sees it, without I/O: what arrives and what is done goes in, what shall be done comes out.
///
/// Bytes of a file do not pass through here unless they must: the daemon writes them, and the machine counts where in the
/// stream they are. See docs/state-machines/transfer.md.
package struct ReceiverMachine: Sendable {
    /// How content of known size gets to where it goes.
    package enum Route: Sendable {
        /// The daemon writes it to a passed file: for files.
        case passed
        /// It comes with everything else, and out by `write`: for standard output, which cannot be read again.
        case inline
    }

    private enum State {
        case waitingForHeader
        case opening(TransferHeader)
        case waitingForStart(TransferHeader, TransferHave)
        /// A part of a file is there, and another comes behind a hole.
        case waitingForNext(Part)
        /// The daemon is about to get the file.
        case passing(Part)
        /// The daemon writes the bytes.
        case receivingBytes(Part)
        /// Content that passes through here; `left` bytes more of it, or chunks when it is nil.
        case receivingContent(left: Int64?)
        /// All is here; whether the source was changed meanwhile is not known yet.
        case waitingForComplete
        case finishing
        case ended
    }

    /// Bytes of a file that come in one piece.
    private struct Part {
        let length: Int64
        /// Where in the file they end.
        let end: Int64
        /// Bytes of the whole file.
        let size: Int64
    }

    private let route: Route
    private var state = State.waitingForHeader
    private var input = TransferInput()
    /// The entries that the sender has left out; known before `finish`.
    package private(set) var omissions = TransferOmissions.none
    /// What was decided and not yet given to the program.
    private var pending: [ReceiverAction] = []

    /// A transfer to a place that needs this route.
    package init(route: Route = .passed) {
        self.route = route
    }

    /// Whether nothing more can happen.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// True if the other side must send next, for which it need not hash anything, and nothing is done here meanwhile.
    package var awaitsSender: Bool {
        switch state {
        case .waitingForHeader, .waitingForNext, .receivingBytes, .receivingContent, .waitingForComplete: true
        case .opening, .waitingForStart, .passing, .finishing, .ended: false
        }
    }

    /// Whether the other side has nothing more to say.
    private var hasHeardAll: Bool {
        switch state {
        case .finishing, .ended: true
        case .waitingForHeader, .opening, .waitingForStart, .waitingForNext, .passing, .receivingBytes,
            .receivingContent,
            .waitingForComplete:
            false
        }
    }

    /// Bytes of the other side's direction that were taken, those included that the daemon wrote to a file.
    package var position: Int64 { input.position }

    /// The next action; nil when more input or an answer is needed.
    ///
    /// Call it after every input until it gives nil, and do each action before asking for the next: what arrived is looked at
    /// no further than what was done reaches, so nothing follows an action that failed but what `fail` decides.
    package mutating func next() -> ReceiverAction? {
        while pending.isEmpty {
            do throws(TransferFailure) {
                guard let decided = try step() else { return nil }
                pending += decided
            } catch {
                fail(error)
            }
        }
        return pending.removeFirst()
    }

    /// Takes what the stream delivered, in any cuts. What the daemon writes to a file is not given.
    package mutating func received(_ bytes: some Sequence<UInt8>) {
        // `complete` is the other side's last word.
        guard !hasHeardAll else { return }
        guard case .receivingBytes = state else { return input.append(bytes) }
        // The daemon may deliver what follows the file before it says that the file is written. What follows that counts as little as it
        // would have counted a moment later, and need not be kept.
        input.append(bytes.prefix(max(0, TransferLimits.frame + 4 - input.buffered)))
    }

    /// The other side has ended its direction, or the stream is over.
    package mutating func endReceived() {
        // Whether it hears of our end is not known then, but the content is here.
        if !hasHeardAll { lose(.ended) }
    }

    /// Bytes that arrived and are not used yet.
    package var bufferedBytes: Int { input.buffered }

    /// Answers `open`.
    package mutating func opened(_ have: TransferHave = .nothing) {
        guard case .opening(let header) = state else { return }
        // More than the whole cannot be a beginning of it, and what a program writes is never continued.
        let isPossible = header.kind == .folder ? header.id != nil : have.offset <= header.size ?? 0
        let isUsable = route == .passed && isPossible
        var used = isUsable ? have : .nothing
        used.takesHoles = route == .passed
        state = .waitingForStart(header, used)
        pending.append(.send(TransferFrame.have(used).encoded()))
    }

    /// Answers `receiveBytes`: from now on the daemon takes them.
    package mutating func ready() {
        guard case .passing(let part) = state else { return }
        state = .receivingBytes(part)
        pending.append(.send(TransferFrame.go.encoded()))
    }

    /// Answers `receiveBytes`: all of them are written.
    package mutating func bytesReceived() {
        guard case .receivingBytes(let part) = state else { return }
        input.skip(part.length)
        state = part.end == part.size ? .waitingForComplete : .waitingForNext(part)
    }

    /// Answers `finish`.
    package mutating func finished() {
        guard case .finishing = state else { return }
        end([.send(TransferFrame.done.encoded()), .end, .succeed])
    }

    /// Something failed here, or the user calls it off; the other side is told. What was decided before is not done any more.
    package mutating func fail(_ failure: TransferFailure) {
        end([.send(TransferFrame.error(failure).encoded()), .end, .fail(failure)])
    }

    /// The stream is over: nobody can be told. What was decided before is not done any more.
    package mutating func lose(_ failure: TransferFailure) {
        end([.fail(failure)])
    }

    /// The end, by these actions and no other; the first end holds.
    private mutating func end(_ last: [ReceiverAction]) {
        guard !isEnded else { return }
        state = .ended
        pending = last
    }

    /// One step; nil when more input or an answer is needed.
    private mutating func step() throws(TransferFailure) -> [ReceiverAction]? {
        guard !hasHeardAll else { return nil }
        switch state {
        case .finishing, .ended, .receivingBytes: return nil
        case .receivingContent(let left): return try content(left: left)
        case .waitingForHeader, .opening, .waitingForStart, .waitingForNext, .passing, .waitingForComplete:
            guard let frame = try input.nextFrame() else { return nil }
            return try take(frame)
        }
    }

    private mutating func take(_ frame: TransferFrame) throws(TransferFailure) -> [ReceiverAction] {
        if case .error(let failure) = frame {
            state = .ended
            return [.end, .fail(failure)]
        }
        switch (state, frame) {
        case (.waitingForHeader, .header(let header)):
            state = .opening(header)
            return [.open(header)]
        case (.waitingForStart(let header, let have), .start(let start)): return try take(start, header, have)
        case (.waitingForNext(let part), .start(let start)):
            guard start.offset >= part.end else { throw .malformed("a part of the content comes twice") }
            // Each part brings the file on. The last one has no byte where the file ends with a hole.
            guard start.length != 0 || start.offset == part.size else { throw .malformed("a part without a byte") }
            return try begin(start, of: part.size)
        case (.waitingForComplete, .complete(let omissions)):
            self.omissions = omissions
            state = .finishing
            return [.finish]
        case (.waitingForHeader, _), (.opening, _), (.waitingForStart, _), (.waitingForNext, _), (.passing, _),
            (.receivingBytes, _), (.receivingContent, _), (.waitingForComplete, _), (.finishing, _), (.ended, _):
            throw .malformed("a message out of turn")
        }
    }

    private mutating func take(
        _ start: TransferStart, _ header: TransferHeader, _ have: TransferHave
    ) throws(TransferFailure) -> [ReceiverAction] {
        guard start.offset == 0 || start.offset == have.offset else {
            throw .malformed("it does not begin where it could")
        }
        return try begin(start, of: header.size)
    }

    /// Begins a part of a content of `size` bytes, or of one of which nobody knows.
    private mutating func begin(_ start: TransferStart, of size: Int64?) throws(TransferFailure) -> [ReceiverAction] {
        // What comes in between is a hole, which only a file can have.
        let rest = size.map { $0 &- start.offset }
        guard start.length == rest || route == .passed && Self.isPart(start.length, of: rest) else {
            throw .malformed("a part that is longer than the content")
        }
        guard input.buffered == 0 else { throw .malformed("content before it was asked for") }
        let prepare = ReceiverAction.prepare(offset: start.offset, length: start.length)
        let go = ReceiverAction.send(TransferFrame.go.encoded())
        guard route == .passed, let length = start.length, let size else {
            state = .receivingContent(left: start.length)
            return [prepare, go]
        }
        let part = Part(length: length, end: start.offset &+ length, size: size)
        guard length > 0 else {
            state = part.end == size ? .waitingForComplete : .waitingForNext(part)
            return [prepare, go]
        }
        state = .passing(part)
        return [prepare, .receiveBytes(position: input.position, length: length)]
    }

    private static func isPart(_ length: Int64?, of rest: Int64?) -> Bool {
        guard let length, let rest else { return false }
        return length <= rest
    }

    private mutating func content(left: Int64?) throws(TransferFailure) -> [ReceiverAction]? {
        let bytes: [UInt8]
        if let left {
            guard left > 0 else {
                state = .waitingForComplete
                return []
            }
            guard let taken = input.takeRaw(limit: left) else { return nil }
            bytes = taken
        } else {
            switch try input.nextContent() {
            case nil: return nil
            case .end:
                state = .waitingForComplete
                return []
            case .bytes(let taken): bytes = taken
            }
        }
        state = .receivingContent(left: left.map { $0 &- Int64(bytes.count) })
        return [.write(bytes)]
    }
}

/// What a program does for a `ReceiverMachine`, one after the other. When one of them fails, the program says so by `fail`.
package enum ReceiverAction: Equatable, Sendable {
    /// Write these bytes to the stream.
    case send([UInt8])
    /// Open where the content shall go, hash what is there of it, and call `opened`.
    case open(TransferHeader)
    /// Keep the first `offset` bytes of what is there, drop the rest, and make a hole of what is missing; what comes is written behind them. `length` bytes
    /// will come; nil when that is not known. Of a folder keep all entries that were reported, or none.
    case prepare(offset: Int64, length: Int64?)
    /// Pass the file to the daemon: `length` bytes, from 1, of the other side's direction from `position` on are for it.
    /// Call `ready` when the daemon has the call, and `bytesReceived` when they are written.
    case receiveBytes(position: Int64, length: Int64)
    /// Write these bytes where the content goes.
    case write([UInt8])
    /// Store the content durably, give it its name, and call `finished`.
    case finish
    /// End our direction (shutdown(2)), after everything is sent.
    case end
    /// The content is here. Nothing follows.
    case succeed
    /// It has failed: end what is running, and close the stream once everything is sent. Nothing follows.
    case fail(TransferFailure)
}
