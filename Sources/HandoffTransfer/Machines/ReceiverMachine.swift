/// The receiver's state machine for one transfer, without I/O. Its inputs are events and the
/// results of actions. Its outputs are the next actions.
///
/// The bytes of a file usually do not pass through the machine. The daemon writes them, and the
/// machine tracks their positions in the stream. See docs/state-machines/transfer.md.
package struct ReceiverMachine: Sendable {
    /// The route of content of known size to its destination.
    package enum Route: Sendable {
        /// The daemon writes it to a passed file. Used for files.
        case passed
        /// It arrives in the stream and is output by `write`. Used for standard output, which
        /// cannot be read back.
        case inline
    }

    private enum State {
        case waitingForHeader
        case opening(TransferHeader)
        case waitingForStart(TransferHeader, TransferHave)
        /// A part of a file has arrived, and another follows after a hole.
        case waitingForNext(Part)
        /// The file is about to be passed to the daemon.
        case passing(Part)
        /// The daemon is writing the bytes.
        case receivingBytes(Part)
        /// Content passes through the machine: `left` more bytes, or chunks if it is nil.
        case receivingContent(left: Int64?)
        /// All content has arrived. Whether the source changed is not known yet.
        case waitingForComplete
        case finishing
        case ended
    }

    /// A contiguous part of a file.
    private struct Part {
        let length: Int64
        /// The offset in the file after the part.
        let end: Int64
        /// Bytes of the whole file.
        let size: Int64
    }

    private let route: Route
    private var state = State.waitingForHeader
    private var input = TransferInput()
    /// The entries omitted by the sender, known before `finish`.
    private(set) var omissions = TransferOmissions.none
    /// Actions that `next` has not returned yet.
    private var pending: [ReceiverAction] = []

    /// Creates a machine for a destination that needs this route.
    package init(route: Route = .passed) {
        self.route = route
    }

    /// True if no more actions follow.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// True if the other side must send next, without having to hash anything, and no work is
    /// pending here.
    var awaitsSender: Bool {
        switch state {
        case .waitingForHeader, .waitingForNext, .receivingBytes, .receivingContent, .waitingForComplete: true
        case .opening, .waitingForStart, .passing, .finishing, .ended: false
        }
    }

    /// True if no more input is expected.
    private var hasReceivedAll: Bool {
        switch state {
        case .finishing, .ended: true
        case .waitingForHeader, .opening, .waitingForStart, .waitingForNext, .passing, .receivingBytes,
            .receivingContent,
            .waitingForComplete:
            false
        }
    }

    /// Consumed bytes of the other side's direction, including those that the daemon wrote to a
    /// file.
    package var position: Int64 { input.position }

    /// Returns the next action, or nil if more input or a result is needed.
    ///
    /// Call it after every input until it returns nil, and perform each action before requesting
    /// the next. Input is only processed up to the point that the performed actions allow. After a
    /// failed action, only the actions of `fail` follow.
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

    /// Accepts bytes of the stream, in any pieces. Bytes that the daemon writes to a file are not
    /// passed.
    package mutating func received(_ bytes: some Sequence<UInt8>) {
        // `complete` is the other side's last message.
        guard !hasReceivedAll else { return }
        guard case .receivingBytes = state else { return input.append(bytes) }
        // The daemon may deliver the bytes after the file before it reports that the file is
        // written. At most one frame is kept, because bytes after `complete` are ignored.
        input.append(bytes.prefix(max(0, TransferLimits.frame + 4 - input.buffered)))
    }

    /// Handles the end of the other side's direction or of the stream.
    package mutating func endReceived() {
        // The other side may not learn that the transfer succeeded, but the content has arrived.
        if !hasReceivedAll { abort(.ended) }
    }

    /// The number of received bytes that have not been processed.
    package var bufferedBytes: Int { input.buffered }

    /// Reports the result of `open`.
    package mutating func opened(_ have: TransferHave = .nothing) {
        guard case .opening(let header) = state else { return }
        // A part that is longer than the content is not its beginning. A program's output is never
        // continued.
        let isPossible = header.kind == .folder ? header.id != nil : have.offset <= header.size ?? 0
        let isUsable = route == .passed && isPossible
        var used = isUsable ? have : .nothing
        used.supportsHoles = route == .passed
        state = .waitingForStart(header, used)
        pending.append(.send(TransferFrame.have(used).encoded()))
    }

    /// Reports, in response to `receiveBytes`, that the daemon now accepts the bytes.
    package mutating func ready() {
        guard case .passing(let part) = state else { return }
        state = .receivingBytes(part)
        pending.append(.send(TransferFrame.go.encoded()))
    }

    /// Reports, in response to `receiveBytes`, that all bytes are written.
    package mutating func bytesReceived() {
        guard case .receivingBytes(let part) = state else { return }
        input.skip(part.length)
        state = part.end == part.size ? .waitingForComplete : .waitingForNext(part)
    }

    /// Reports that `finish` is done.
    package mutating func finished() {
        guard case .finishing = state else { return }
        end([.send(TransferFrame.done.encoded()), .end, .succeed])
    }

    /// Ends the transfer because of a local failure or cancellation, and notifies the other side.
    /// Pending actions are discarded.
    package mutating func fail(_ failure: TransferFailure) {
        end([.send(TransferFrame.error(failure).encoded()), .end, .fail(failure)])
    }

    /// Ends the transfer because the stream is closed, without notification. Pending actions are
    /// discarded.
    package mutating func abort(_ failure: TransferFailure) {
        end([.fail(failure)])
    }

    /// Ends with exactly these actions. Only the first call has an effect.
    private mutating func end(_ last: [ReceiverAction]) {
        guard !isEnded else { return }
        state = .ended
        pending = last
    }

    /// Performs one step. Returns nil if more input or a result is needed.
    private mutating func step() throws(TransferFailure) -> [ReceiverAction]? {
        guard !hasReceivedAll else { return nil }
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
            guard start.offset >= part.end else { throw .malformed("a part of the content is sent twice") }
            // Each part must advance in the file. The last one is empty if the file ends with a
            // hole.
            guard start.length != 0 || start.offset == part.size else { throw .malformed("an empty part") }
            return try begin(start, of: part.size)
        case (.waitingForComplete, .complete(let omissions)):
            self.omissions = omissions
            state = .finishing
            return [.finish]
        case (.waitingForHeader, _), (.opening, _), (.waitingForStart, _), (.waitingForNext, _), (.passing, _),
            (.receivingBytes, _), (.receivingContent, _), (.waitingForComplete, _), (.finishing, _), (.ended, _):
            throw .malformed("an unexpected message")
        }
    }

    private mutating func take(
        _ start: TransferStart, _ header: TransferHeader, _ have: TransferHave
    ) throws(TransferFailure) -> [ReceiverAction] {
        guard start.offset == 0 || start.offset == have.offset else {
            throw .malformed("it does not start at an offered position")
        }
        return try begin(start, of: header.size)
    }

    /// Starts a part of content of `size` bytes; nil if the size is unknown.
    private mutating func begin(_ start: TransferStart, of size: Int64?) throws(TransferFailure) -> [ReceiverAction] {
        // The bytes between two parts are a hole, which only a file can have.
        let rest = size.map { $0 &- start.offset }
        guard start.length == rest || route == .passed && Self.isPart(start.length, of: rest) else {
            throw .malformed("a part that is longer than the content")
        }
        guard input.buffered == 0 else { throw .malformed("content before it was requested") }
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

/// The actions of a program for a `ReceiverMachine`, in order. If one fails, the program calls
/// `fail`.
package enum ReceiverAction: Equatable, Sendable {
    /// Write these bytes to the stream.
    case send([UInt8])
    /// Open the destination, hash the part that exists, and call `opened`.
    case open(TransferHeader)
    /// Keep the first `offset` bytes, drop the rest, and fill missing bytes with a hole. Write what
    /// follows after them. `length` bytes follow; nil means unknown. For a folder, keep all
    /// reported entries or none.
    case prepare(offset: Int64, length: Int64?)
    /// Pass the file to the daemon. `length` bytes (at least 1) of the other side's direction,
    /// starting at `position`, are for it. Call `ready` once the daemon has received the call, and
    /// `bytesReceived` once the bytes are written.
    case receiveBytes(position: Int64, length: Int64)
    /// Write these bytes to the destination.
    case write([UInt8])
    /// Store the content durably, give it its name, and call `finished`.
    case finish
    /// End our direction (shutdown(2)) after everything has been sent.
    case end
    /// The content has been received. No more actions follow.
    case succeed
    /// The transfer has failed. End running work, and close the stream after everything has been
    /// sent. No more actions follow.
    case fail(TransferFailure)
}
