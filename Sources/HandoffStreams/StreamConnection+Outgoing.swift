internal import Glibc
internal import HandoffTLS
internal import LoopIO

/// To the other device: bytes of the app or of a file to words, words to TLS and TCP.
extension StreamConnection {
    func sendOutgoing() {
        guard sendCiphertext(), case .open = state, wantsOutput, let raw = local?.raw else { return }
        guard !isSendingFile else { return sendFile() }
        if let memory, isMemoryNext { return sendShared(memory) }
        let room = UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[StreamWord.byteCount...])
        let untilMemory = memory.map { Int(clamping: $0.position - outgoing.count) } ?? .max
        let wanted = min(room.count, streamLoop.chunk, untilFile, untilMemory)
        let count: Int
        do throws(Errno) {
            let passed: [PassedFile]?
            (count, passed) = try LocalSocket.receive(
                from: raw, passer, into: UnsafeMutableRawBufferPointer(rebasing: room[..<wanted]))
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
            endOutgoing()
        }
        // The place of a file may be reached by that, and its reader has said already that there is something.
        if sendCiphertext(), isSendingFile { pumpLater() }
    }

    /// Bytes of our direction before those of the file that is going to be sent.
    var untilFile: Int { sending.map { Int(clamping: $0.position - outgoing.count) } ?? .max }

    /// The app sends no more.
    func endOutgoing() {
        outgoing.hasEnded = true
        send(.end)
        sending?.reader.cancel()
        sending?.end(.positionPassed(outgoing.count))
        sending = nil
    }

    /// Whether the app has closed its end, and not only ended its direction: the end of file looks the same.
    private func hasHungUp(_ raw: Int32) -> Bool {
        guard !incoming.isEndDelivered else { return false }
        var status = pollfd(fd: raw, events: 0, revents: 0)
        return poll(&status, 1, 0) == 1 && status.revents & Int16(POLLHUP) != 0
    }

    /// Whether the next bytes to be sent are those of a file.
    var isSendingFile: Bool {
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

    func pumpLater() {
        streamLoop.loop.later { [weak self] in self?.pump() }
    }

    /// All of the file was sent, or it has ended before.
    func sendingEnded(after total: Int64) {
        guard let part = sending else { return }
        if let length = part.length, total < length {
            return sendingFailed("it ended after \(total) of \(length) bytes")
        }
        sending = nil
        part.end(.done(total))
        pump()
    }

    func sendingFailed(_ cause: String) {
        guard let part = sending else { return }
        sending = nil
        part.reader.cancel()
        part.end(.failed(part.moved, cause))
        reset(.failed)
    }

    /// Encrypts a word, and the data that stands behind it in the scratch memory.
    func send(_ word: StreamWord) {
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

    func write(_ bytes: [UInt8]) -> Bool {
        do throws(TLSError) {
            try session.write(bytes)
            return true
        } catch {
            end(.gone("\(error)"))
            return false
        }
    }

    /// Hands ciphertext to TCP. Returns whether it took all.
    func sendCiphertext() -> Bool {
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
    func sendingFailed(_ error: Errno) {
        switch state {
        case .closed: return
        case .parting: return close()
        case .awaitingTicket, .judging: return end(.gone("\(error)"))
        case .open where local == nil:
            // The app's end is on its way; what becomes of it is decided when it is here.
            isSocketOver = true
            socketError = error
            return
        case .open: break
        }
        // TLS may hold more than one step reads, and TCP more than one record.
        while case .open = state {
            guard case .bytes(let count) = read(into: streamLoop.scratch) else {
                guard !isSocketOver, receive() else { break }
                continue
            }
            isUnanswered = false
            // Bytes for the app are not given any more: it would take them for all there are.
            let (_, isWhole) = incoming.parse(UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<count]))
            if let reset = incoming.reset { return end(.resetThere(reset)) }
            guard isWhole else { break }
        }
        cut("\(error)")
    }
}
