/// One transfer as the sender sees it, without I/O: what arrives and what is done goes in, what shall be done comes out.
///
/// A program calls `start`, then reports what happens. Bytes of a file do not pass through here: the daemon moves them, and
/// the machine counts where in the stream they are. See docs/state-machines/transfer.md.
package struct SenderMachine: Sendable {
    private enum State {
        case idle
        case waitingForHave
        case hashingPrefix(TransferHave)
        case waitingForGo(TransferStart)
        /// The daemon sends the bytes while the program hashes them.
        case sendingBytes(TransferStart, digest: ContentDigest?, areSent: Bool)
        /// The program gives content of unknown size.
        case sendingContent(SHA256Hasher)
        case waitingForDone
        case ended
    }

    /// What is sent.
    package let header: TransferHeader
    /// Bytes of our direction so far, those of the file included.
    package private(set) var sent: Int64 = 0
    private var state = State.idle
    private var input = TransferInput()

    /// A transfer of the content that `header` describes.
    package init(header: TransferHeader) {
        self.header = header
    }

    /// Whether nothing more can happen.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Begins. Call it once, when the stream is open.
    package mutating func start() -> [SenderAction] {
        guard case .idle = state else { return [] }
        state = .waitingForHave
        return [send(.header(header))]
    }

    /// Takes what the stream delivered, in any cuts.
    package mutating func received(_ bytes: some Sequence<UInt8>) -> [SenderAction] {
        guard !isEnded else { return [] }
        input.append(bytes)
        var actions: [SenderAction] = []
        do throws(TransferFailure) {
            while !isEnded, let frame = try input.nextFrame() { actions += try take(frame) }
        } catch {
            actions += fail(error)
        }
        return actions
    }

    /// The other side has ended its direction, or the stream is over.
    package mutating func endReceived() -> [SenderAction] {
        guard !isEnded else { return [] }
        return lose(.ended)
    }

    /// Answers `hashPrefix`.
    package mutating func prefixHashed(_ digest: ContentDigest) -> [SenderAction] {
        guard case .hashingPrefix(let have) = state else { return [] }
        return begin(at: digest == have.digest ? have.offset : 0)
    }

    /// Answers `sendBytes`: the daemon has sent all of them.
    package mutating func bytesSent() -> [SenderAction] {
        guard case .sendingBytes(let start, let digest, areSent: false) = state else { return [] }
        sent &+= start.length ?? 0
        state = .sendingBytes(start, digest: digest, areSent: true)
        return digest.map { close(with: $0) } ?? []
    }

    /// Answers `hashContent`, when the source was not changed.
    package mutating func contentHashed(_ digest: ContentDigest) -> [SenderAction] {
        guard case .sendingBytes(let start, _, let areSent) = state else { return [] }
        state = .sendingBytes(start, digest: digest, areSent: areSent)
        return areSent ? close(with: digest) : []
    }

    /// The next bytes of a content of unknown size, after `readContent`.
    package mutating func content(_ bytes: [UInt8]) -> [SenderAction] {
        guard case .sendingContent(var hasher) = state else { return [] }
        hasher.update(bytes)
        state = .sendingContent(hasher)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 4)
        var left = bytes[...]
        while !left.isEmpty {
            let chunk = left.prefix(TransferLimits.chunk)
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: chunk.count).bigEndian) { output.append(contentsOf: $0) }
            output += chunk
            left = left.dropFirst(chunk.count)
        }
        return output.isEmpty ? [] : [send(output)]
    }

    /// The content of unknown size has come to its end.
    package mutating func contentEnded() -> [SenderAction] {
        guard case .sendingContent(let hasher) = state else { return [] }
        return [send([0, 0, 0, 0])] + close(with: hasher.digest())
    }

    /// The source failed or was changed, or the user calls it off; the other side is told where it can be.
    package mutating func fail(_ failure: TransferFailure) -> [SenderAction] {
        switch state {
        case .ended: return []
        case .idle:
            state = .ended
            return [.fail(failure)]
        case .sendingBytes(_, _, areSent: false):
            // In the middle of a file's bytes nothing else can be said; closing the stream tells it.
            return lose(failure)
        case .sendingContent:
            state = .ended
            return [send([0, 0, 0, 0]), send(.error(failure)), .end, .fail(failure)]
        case .waitingForHave, .hashingPrefix, .waitingForGo, .sendingBytes, .waitingForDone:
            state = .ended
            return [send(.error(failure)), .end, .fail(failure)]
        }
    }

    /// The stream is over, or nothing can be sent on it: the other side is told nothing.
    package mutating func lose(_ failure: TransferFailure) -> [SenderAction] {
        guard !isEnded else { return [] }
        state = .ended
        return [.fail(failure)]
    }

    private mutating func take(_ frame: TransferFrame) throws(TransferFailure) -> [SenderAction] {
        if case .error(let failure) = frame {
            state = .ended
            return [.end, .fail(failure)]
        }
        switch (state, frame) {
        case (.waitingForHave, .have(let have)): return try take(have)
        case (.waitingForGo(let start), .go): return go(start)
        case (.waitingForDone, .done):
            state = .ended
            return [.end, .succeed]
        case (.waitingForHave, _), (.hashingPrefix, _), (.waitingForGo, _), (.sendingBytes, _), (.sendingContent, _),
            (.waitingForDone, _), (.idle, _), (.ended, _):
            throw .malformed("a message out of turn")
        }
    }

    private mutating func take(_ have: TransferHave) throws(TransferFailure) -> [SenderAction] {
        guard have.offset > 0 else { return begin(at: 0) }
        guard let size = header.size, have.offset <= size else { throw .malformed("it has more than there is") }
        state = .hashingPrefix(have)
        return [.hashPrefix(length: have.offset)]
    }

    private mutating func begin(at offset: Int64) -> [SenderAction] {
        guard let start = TransferStart(offset: offset, length: header.size.map { $0 &- offset }) else {
            return fail(.malformed("it has more than there is"))
        }
        state = .waitingForGo(start)
        return [send(.start(start))]
    }

    private mutating func go(_ start: TransferStart) -> [SenderAction] {
        guard let length = start.length, let size = header.size else {
            state = .sendingContent(SHA256Hasher())
            return [.readContent]
        }
        guard length > 0 else {
            state = .sendingBytes(start, digest: nil, areSent: true)
            return [.hashContent(length: size)]
        }
        state = .sendingBytes(start, digest: nil, areSent: false)
        return [
            .sendBytes(position: sent, offset: start.offset, length: length), .hashContent(length: size),
        ]
    }

    private mutating func close(with digest: ContentDigest) -> [SenderAction] {
        state = .waitingForDone
        return [send(.digest(digest))]
    }

    private mutating func send(_ frame: TransferFrame) -> SenderAction {
        send(frame.encoded())
    }

    private mutating func send(_ bytes: [UInt8]) -> SenderAction {
        sent &+= Int64(bytes.count)
        return .send(bytes)
    }
}
