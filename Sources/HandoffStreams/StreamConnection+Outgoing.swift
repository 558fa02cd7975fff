internal import Glibc
internal import HandoffCrypto
internal import LoopIO

/// The outgoing direction: from bytes of the app or a file to words, and from words to TLS and TCP.
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
            // Descriptors are not allowed in a stream of bytes.
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
        // This may have reached the position of a file whose reader has already reported data.
        if sendCiphertext(), isSendingFile { pumpLater() }
    }

    /// The number of bytes of the direction before the next file part.
    var untilFile: Int { sending.map { Int(clamping: $0.position - outgoing.count) } ?? .max }

    /// Ends the direction after the app's last byte.
    func endOutgoing() {
        outgoing.hasEnded = true
        send(.end)
        sending?.reader.cancel()
        sending?.end(.positionPassed(outgoing.count))
        sending = nil
    }

    /// Returns true if the app has closed its end instead of only ending its direction. Both read
    /// as end of file.
    private func hasHungUp(_ raw: Int32) -> Bool {
        guard !incoming.isEndDelivered else { return false }
        var status = pollfd(fd: raw, events: 0, revents: 0)
        return poll(&status, 1, 0) == 1 && status.revents & Int16(POLLHUP) != 0
    }

    /// True if the next bytes to send are those of a file.
    var isSendingFile: Bool {
        sending.map { outgoing.count >= $0.position } ?? false
    }

    /// Sends the next block of the file, if it has been read.
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
        // The reader may have reported two blocks at once. The second one follows after the other
        // streams.
        if sendCiphertext() { pumpLater() }
    }

    func pumpLater() {
        streamLoop.loop.later { [weak self] in self?.pump() }
    }

    /// Handles the end of the file: all bytes have been sent, or it ended early.
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

    /// Encrypts a word, and the data that follows it in the scratch memory.
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

    /// Passes ciphertext to TCP. Returns true if all of it was accepted.
    func sendCiphertext() -> Bool {
        guard session.pendingCiphertext > 0 else { return true }
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
        return session.pendingCiphertext == 0
    }

    /// Handles a send error. The other side may have sent a reason before it stopped receiving.
    func sendingFailed(_ error: Errno) {
        switch state {
        case .closed: return
        case .parting: return close()
        case .awaitingTicket, .judging: return end(.gone("\(error)"))
        case .open where local == nil:
            // The app's end has not been attached yet. The outcome is decided once it is.
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
            // Bytes for the app are dropped. Otherwise the app would take them for the complete
            // data.
            let (_, isWhole) = incoming.parse(UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<count]))
            if let reset = incoming.reset { return end(.resetThere(reset)) }
            guard isWhole else { break }
        }
        cut("\(error)")
    }
}
