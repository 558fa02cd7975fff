/// One transfer as the sender sees it, without I/O: what arrives and what is done goes in, what shall be done comes out.
///
/// A program calls `start`, then reports what happens. Bytes of a file do not pass through here: the daemon moves them, and
/// the machine counts where in the stream they are. See docs/state-machines/transfer.md.
package struct SenderMachine: Sendable {
    private enum State {
        case idle
        case waitingForHave
        case hashingPrefix(TransferHave)
        /// The program looks for the next data of the file.
        case findingData(from: Int64, isFirst: Bool)
        case waitingForGo(TransferStart)
        /// The daemon sends the bytes.
        case sendingBytes(TransferStart, length: Int64)
        /// The program gives content of unknown size.
        case sendingContent
        /// The program looks whether the source has changed.
        case confirming
        case waitingForDone
        case ended
    }

    /// What is sent.
    package let header: TransferHeader
    /// Bytes of our direction so far, those of the file included.
    package private(set) var sent: Int64 = 0
    private var state = State.idle
    private var input = TransferInput()
    /// The entries that are left out, once they are known.
    private var omissions = TransferOmissions.none
    /// Whether the other side makes holes.
    private var takesHoles = false
    /// What was decided and not yet given to the program.
    private var pending: [SenderAction] = []

    /// A transfer of the content that `header` describes.
    package init(header: TransferHeader) {
        self.header = header
    }

    /// Whether nothing more can happen.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// The next action; nil when more input or an answer is needed.
    ///
    /// Call it after every input until it gives nil, and do each action before asking for the next: what arrived is looked at
    /// no further than what was done reaches, so nothing follows an action that failed but what `fail` decides.
    package mutating func next() -> SenderAction? {
        while pending.isEmpty {
            do throws(TransferFailure) {
                guard !isEnded, let frame = try input.nextFrame() else { return nil }
                try take(frame)
            } catch {
                fail(error)
            }
        }
        return pending.removeFirst()
    }

    /// Begins. Call it once, when the stream is open.
    package mutating func start() {
        guard case .idle = state else { return }
        state = .waitingForHave
        send(.header(header))
    }

    /// Takes what the stream delivered, in any cuts.
    package mutating func received(_ bytes: some Sequence<UInt8>) {
        guard !isEnded else { return }
        input.append(bytes)
    }

    /// The other side has ended its direction, or the stream is over.
    package mutating func endReceived() {
        lose(.ended)
    }

    /// Answers `hashPrefix` and `hashEntries`.
    package mutating func prefixHashed(_ digest: ContentDigest) {
        guard case .hashingPrefix(let have) = state else { return }
        begin(at: digest == have.digest ? have.offset : 0)
    }

    /// Answers `findData`: so much of the file, from there on, is the next that is no hole; empty at its end when nothing is.
    package mutating func dataFound(_ run: Range<Int64>) {
        guard case .findingData(let offset, let isFirst) = state, let size = header.size else { return }
        let place = min(max(run.lowerBound, offset), size)
        let end = run.upperBound > place ? min(run.upperBound, size) : size
        // The first part says what is kept of what the other side has, so it begins there, also where nothing is to be sent.
        if isFirst, place > offset { start(at: offset, length: 0) } else { start(at: place, length: end &- place) }
    }

    /// Answers `sendBytes`: the daemon has sent all of them.
    package mutating func bytesSent() {
        guard case .sendingBytes(let start, let length) = state else { return }
        sent &+= length
        proceed(behind: start, length)
    }

    /// Answers `confirm`: the source is what it was.
    package mutating func confirmed() {
        guard case .confirming = state else { return }
        state = .waitingForDone
        send(.complete(omissions))
    }

    /// The next bytes of a content of unknown size, after `readContent`.
    package mutating func content(_ bytes: [UInt8]) {
        guard case .sendingContent = state else { return }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 4)
        var left = bytes[...]
        while !left.isEmpty {
            let chunk = left.prefix(TransferLimits.chunk)
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: chunk.count).bigEndian) { output.append(contentsOf: $0) }
            output += chunk
            left = left.dropFirst(chunk.count)
        }
        if !output.isEmpty { send(output) }
    }

    /// The content of unknown size has come to its end.
    /// - Parameter omissions: what of it is left out.
    package mutating func contentEnded(omitting omissions: TransferOmissions = .none) {
        guard case .sendingContent = state else { return }
        self.omissions = omissions
        send(Self.endOfContent)
        confirm()
    }

    /// The source failed or was changed, or the user calls it off; the other side is told where it can be. What was decided
    /// before is not done any more.
    package mutating func fail(_ failure: TransferFailure) {
        let error = SenderAction.send(TransferFrame.error(failure).encoded())
        switch state {
        case .ended: return
        // In the middle of a file's bytes nothing else can be said; closing the stream tells it.
        case .idle, .sendingBytes: lose(failure)
        case .sendingContent: end([.send(Self.endOfContent), error, .end, .fail(failure)])
        case .waitingForHave, .hashingPrefix, .findingData, .waitingForGo, .confirming, .waitingForDone:
            end([error, .end, .fail(failure)])
        }
    }

    /// The stream is over, or nothing can be sent on it: the other side is told nothing.
    package mutating func lose(_ failure: TransferFailure) {
        end([.fail(failure)])
    }

    /// The end, by these actions and no other; the first end holds.
    private mutating func end(_ last: [SenderAction]) {
        guard !isEnded else { return }
        state = .ended
        pending = last
    }

    /// A chunk of no bytes.
    private static let endOfContent: [UInt8] = [0, 0, 0, 0]

    private mutating func take(_ frame: TransferFrame) throws(TransferFailure) {
        if case .error(let failure) = frame { return end([.end, .fail(failure)]) }
        switch (state, frame) {
        case (.waitingForHave, .have(let have)): try take(have)
        case (.waitingForGo(let start), .go): go(start)
        case (.waitingForDone, .done): end([.end, .succeed])
        case (.waitingForHave, _), (.hashingPrefix, _), (.findingData, _), (.waitingForGo, _), (.sendingBytes, _),
            (.sendingContent, _),
            (.confirming, _), (.waitingForDone, _), (.idle, _), (.ended, _):
            throw .malformed("a message out of turn")
        }
    }

    private mutating func take(_ have: TransferHave) throws(TransferFailure) {
        takesHoles = have.takesHoles
        guard have.offset > 0 else { return begin(at: 0) }
        if header.kind == .folder, header.id != nil {
            state = .hashingPrefix(have)
            return pending.append(.hashEntries(have))
        }
        guard let size = header.size, have.offset <= size else { throw .malformed("it has more than there is") }
        state = .hashingPrefix(have)
        pending.append(.hashPrefix(length: have.offset))
    }

    private mutating func begin(at offset: Int64) {
        guard let size = header.size else { return start(at: offset, length: nil) }
        if takesHoles, offset < size { return find(from: offset, isFirst: true) }
        start(at: offset, length: size &- offset)
    }

    private mutating func find(from offset: Int64, isFirst: Bool) {
        state = .findingData(from: offset, isFirst: isFirst)
        pending.append(.findData(from: offset))
    }

    private mutating func start(at offset: Int64, length: Int64?) {
        guard let start = TransferStart(offset: offset, length: length) else {
            return fail(.malformed("it has more than there is"))
        }
        state = .waitingForGo(start)
        send(.start(start))
    }

    private mutating func go(_ start: TransferStart) {
        guard let length = start.length else {
            state = .sendingContent
            return pending.append(.readContent(from: start.offset))
        }
        guard length > 0 else { return proceed(behind: start, 0) }
        state = .sendingBytes(start, length: length)
        pending.append(.sendBytes(position: sent, offset: start.offset, length: length))
    }

    /// Goes on behind a part: with the next, or to the end.
    private mutating func proceed(behind start: TransferStart, _ length: Int64) {
        let reached = start.offset &+ length
        guard let size = header.size, reached < size else { return confirm() }
        find(from: reached, isFirst: false)
    }

    private mutating func confirm() {
        state = .confirming
        pending.append(.confirm)
    }

    private mutating func send(_ frame: TransferFrame) {
        send(frame.encoded())
    }

    private mutating func send(_ bytes: [UInt8]) {
        sent &+= Int64(bytes.count)
        pending.append(.send(bytes))
    }
}

/// What a program does for a `SenderMachine`, one after the other. When one of them fails, the program says so by `fail`.
package enum SenderAction: Equatable, Sendable {
    /// Write these bytes to the stream.
    case send([UInt8])
    /// Hash the first `length` bytes of the file, then call `prefixHashed`.
    case hashPrefix(length: Int64)
    /// Hash so much of the folder's archive, then call `prefixHashed`.
    case hashEntries(TransferHave)
    /// Look where the file has data, from this byte on, and call `dataFound`.
    case findData(from: Int64)
    /// Pass the file, its offset set to `offset`, to the daemon: `length` bytes of it, from 1, belong at `position` of our
    /// direction. When they are sent, call `bytesSent`.
    case sendBytes(position: Int64, offset: Int64, length: Int64)
    /// Look whether the source is what it was when it was opened, and call `confirmed`, or `fail`.
    case confirm
    /// Give the content by `content`, as fast as the stream takes it, and then call `contentEnded`. It begins behind so many entries
    /// of a folder's archive: 0, or what was hashed.
    case readContent(from: Int64)
    /// End our direction (shutdown(2)), after everything is sent.
    case end
    /// The other side has the content. Nothing follows.
    case succeed
    /// It has failed: end what is running, and close the stream once everything is sent. Nothing follows.
    case fail(TransferFailure)
}
