/// The sender's state machine for one transfer, without I/O. Its inputs are events and the results
/// of actions. Its outputs are the next actions.
///
/// A program calls `start`, then reports events. The bytes of a file do not pass through the
/// machine. The daemon sends them, and the machine tracks their positions in the stream. See
/// docs/state-machines/transfer.md.
package struct SenderMachine: Sendable {
    private enum State {
        case idle
        case waitingForHave
        case hashingPrefix(TransferHave)
        /// The program is looking for the next data of the file.
        case findingData(from: Int64, isFirst: Bool)
        case waitingForGo(TransferStart)
        /// The daemon is sending the bytes.
        case sendingBytes(TransferStart, length: Int64)
        /// The program supplies content of unknown size.
        case sendingContent
        /// The program is checking whether the source has changed.
        case confirming
        case waitingForDone
        case ended
    }

    /// The description of the content.
    package let header: TransferHeader
    /// Bytes sent in our direction so far, including those of the file.
    package private(set) var sent: Int64 = 0
    private var state = State.idle
    private var input = TransferInput()
    /// The omitted entries, once known.
    private var omissions = TransferOmissions.none
    /// True if the other side creates holes.
    private var supportsHoles = false
    /// Actions that `next` has not returned yet.
    private var pending: [SenderAction] = []

    /// Creates a machine for the content described by `header`.
    package init(header: TransferHeader) {
        self.header = header
    }

    /// True if no more actions follow.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Returns the next action, or nil if more input or a result is needed.
    ///
    /// Call it after every input until it returns nil, and perform each action before requesting
    /// the next. Input is only processed up to the point that the performed actions allow. After a
    /// failed action, only the actions of `fail` follow.
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

    /// Starts the transfer. Call it once, when the stream is open.
    package mutating func start() {
        guard case .idle = state else { return }
        state = .waitingForHave
        send(.header(header))
    }

    /// Accepts bytes of the stream, in any pieces.
    package mutating func received(_ bytes: some Sequence<UInt8>) {
        guard !isEnded else { return }
        input.append(bytes)
    }

    /// Handles the end of the other side's direction or of the stream.
    package mutating func endReceived() {
        abort(.ended)
    }

    /// Reports the result of `hashPrefix` or `hashEntries`.
    package mutating func prefixHashed(_ digest: ContentDigest) {
        guard case .hashingPrefix(let have) = state else { return }
        begin(at: digest == have.digest ? have.offset : 0)
    }

    /// Reports the result of `findData`: the next range without holes, or an empty range at the end
    /// of the file if there is none.
    package mutating func dataFound(_ run: Range<Int64>) {
        guard case .findingData(let offset, let isFirst) = state, let size = header.size else { return }
        let place = min(max(run.lowerBound, offset), size)
        let end = run.upperBound > place ? min(run.upperBound, size) : size
        // The first part also shows the other side how much of its content is kept. It starts there
        // even if no bytes follow.
        if isFirst, place > offset { start(at: offset, length: 0) } else { start(at: place, length: end &- place) }
    }

    /// Reports that the daemon has sent all bytes of `sendBytes`.
    package mutating func bytesSent() {
        guard case .sendingBytes(let start, let length) = state else { return }
        sent &+= length
        proceed(after: start, length)
    }

    /// Reports that `confirm` found the source unchanged.
    package mutating func confirmed() {
        guard case .confirming = state else { return }
        state = .waitingForDone
        send(.complete(omissions))
    }

    /// Sends the next bytes of content of unknown size, after `readContent`.
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

    /// Ends content of unknown size.
    /// - Parameter omissions: the entries that were left out.
    package mutating func contentEnded(omitting omissions: TransferOmissions = .none) {
        guard case .sendingContent = state else { return }
        self.omissions = omissions
        send(Self.endOfContent)
        confirm()
    }

    /// Ends the transfer because the source failed or changed, or the user cancelled. Notifies the
    /// other side if possible. Pending actions are discarded.
    package mutating func fail(_ failure: TransferFailure) {
        let error = SenderAction.send(TransferFrame.error(failure).encoded())
        switch state {
        case .ended: return
        // A message cannot be sent within a file's bytes. Closing the stream signals the failure.
        case .idle, .sendingBytes: abort(failure)
        case .sendingContent: end([.send(Self.endOfContent), error, .end, .fail(failure)])
        case .waitingForHave, .hashingPrefix, .findingData, .waitingForGo, .confirming, .waitingForDone:
            end([error, .end, .fail(failure)])
        }
    }

    /// Ends the transfer without notification, because the stream is closed or cannot be written.
    /// Pending actions are discarded.
    package mutating func abort(_ failure: TransferFailure) {
        end([.fail(failure)])
    }

    /// Ends with exactly these actions. Only the first call has an effect.
    private mutating func end(_ last: [SenderAction]) {
        guard !isEnded else { return }
        state = .ended
        pending = last
    }

    /// An empty chunk.
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
            throw .malformed("an unexpected message")
        }
    }

    private mutating func take(_ have: TransferHave) throws(TransferFailure) {
        supportsHoles = have.supportsHoles
        guard have.offset > 0 else { return begin(at: 0) }
        if header.kind == .folder, header.id != nil {
            state = .hashingPrefix(have)
            return pending.append(.hashEntries(have))
        }
        guard let size = header.size, have.offset <= size else { throw .malformed("it claims to have too much") }
        state = .hashingPrefix(have)
        pending.append(.hashPrefix(length: have.offset))
    }

    private mutating func begin(at offset: Int64) {
        guard let size = header.size else { return start(at: offset, length: nil) }
        if supportsHoles, offset < size { return find(from: offset, isFirst: true) }
        start(at: offset, length: size &- offset)
    }

    private mutating func find(from offset: Int64, isFirst: Bool) {
        state = .findingData(from: offset, isFirst: isFirst)
        pending.append(.findData(from: offset))
    }

    private mutating func start(at offset: Int64, length: Int64?) {
        guard let start = TransferStart(offset: offset, length: length) else {
            return fail(.malformed("it claims to have too much"))
        }
        state = .waitingForGo(start)
        send(.start(start))
    }

    private mutating func go(_ start: TransferStart) {
        guard let length = start.length else {
            state = .sendingContent
            return pending.append(.readContent(from: start.offset))
        }
        guard length > 0 else { return proceed(after: start, 0) }
        state = .sendingBytes(start, length: length)
        pending.append(.sendBytes(position: sent, offset: start.offset, length: length))
    }

    /// Continues after a part with the next part or the end.
    private mutating func proceed(after start: TransferStart, _ length: Int64) {
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

/// The actions of a program for a `SenderMachine`, in order. If one fails, the program calls
/// `fail`.
package enum SenderAction: Equatable, Sendable {
    /// Write these bytes to the stream.
    case send([UInt8])
    /// Hash the first `length` bytes of the file, then call `prefixHashed`.
    case hashPrefix(length: Int64)
    /// Hash this part of the folder's archive, then call `prefixHashed`.
    case hashEntries(TransferHave)
    /// Find the next data of the file at or after this offset, and call `dataFound`.
    case findData(from: Int64)
    /// Pass the file, with its offset set to `offset`, to the daemon. `length` of its bytes (at
    /// least 1) belong at `position` of our direction. Call `bytesSent` once they are sent.
    case sendBytes(position: Int64, offset: Int64, length: Int64)
    /// Check that the source has not changed since it was opened, and call `confirmed` or `fail`.
    case confirm
    /// Pass the content to `content`, as fast as the stream accepts it, then call `contentEnded`.
    /// The content starts after this many entries of a folder's archive: 0, or the number that was
    /// hashed.
    case readContent(from: Int64)
    /// End our direction (shutdown(2)) after everything has been sent.
    case end
    /// The other side has the content. No more actions follow.
    case succeed
    /// The transfer has failed. End running work, and close the stream after everything has been
    /// sent. No more actions follow.
    case fail(TransferFailure)
}
