internal import Glibc
internal import HandoffCrypto
internal import LoopIO

/// Memory that the app shares, used instead of its socket.
extension StreamConnection {
    /// Data of at least this size is decrypted directly into the memory. Smaller data is read
    /// together with the words around it.
    static let frontSize = 4096

    /// Starts to move bytes through memory: from the app after a position of its direction, and to
    /// the app immediately.
    func share(_ passed: PassedMemory) -> PassedMemory.Outcome {
        guard case .open = state, local != nil, !outgoing.hasEnded, !incoming.isEndDelivered, !isAppGone else {
            return .failed("one of its directions has ended")
        }
        guard memory == nil else { return .failed("it already shares memory") }
        guard passed.position >= outgoing.count else { return .positionPassed(outgoing.count) }
        do throws(Errno) {
            memory = try LocalMemory(passed)
        } catch {
            return .failed("\(error)")
        }
        pumpLater()
        return .shared(received: incoming.delivered)
    }

    /// True if the app's next bytes are in the memory.
    var isMemoryNext: Bool {
        memory.map { outgoing.count >= $0.position } ?? false
    }

    /// True if the app has enough room to make decrypting worthwhile.
    var hasLocalRoom: Bool {
        guard let memory, !isReceivingFile else { return true }
        // A broken ring has no room. `watch` ends the stream.
        return (try? memory.writer.hasRoom()) ?? false
    }

    // MARK: Bells

    /// Handles a ring of the app, or the close of its end.
    func listen(_ events: IOEvents) {
        guard isMemoryNext, let raw = local?.raw else {
            if events.contains(.hangUp) { isAppGone = true }
            return
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<Self.frontSize])
        do throws(Errno) {
            let (count, passed) = try LocalSocket.receive(from: raw, passer, into: room)
            if count == 0 { isAppGone = true }
            // Descriptors are not allowed here.
            if passed != nil { reset(.cancelled) }
        } catch .wouldBlock {
            if events.contains(.hangUp) { isAppGone = true }
        } catch {
            reset(.cancelled)
        }
    }

    /// Publishes what this side waits for, so that the app rings.
    /// - Returns: the events to watch for at its socket.
    func watch(_ memory: LocalMemory) -> IOEvents {
        guard case .open = state else { return [] }
        let isReading = wantsOutput && session.pendingCiphertext == 0 && !isSendingFile
        do throws(BrokenRing) {
            var isDue = false
            // An app that has closed its end does not ring. Read what it left immediately, then its
            // end.
            if isReading, isMemoryNext {
                let isWaiting = try memory.reader.wait()
                isDue = isAppGone || !isWaiting
            }
            if incoming.isWaiting || isHeldForRoom {
                let isWaiting = try memory.writer.wait()
                isDue = isDue || !isWaiting
            }
            if isDue { pumpLater() }
        } catch {
            streamLoop.loop.later { [weak self] in self?.reset(.cancelled) }
        }
        guard !isAppGone else { return [] }
        // If there is nothing to read, only a hang-up shows that the app has closed its end.
        return isMemoryNext || isReading ? .readable : .hangUp
    }

    // MARK: Bytes

    /// Encrypts the next bytes written by the app.
    func sendShared(_ memory: LocalMemory) {
        do {
            let bytes = try memory.reader.bytes(upTo: min(streamLoop.sharedChunk, untilFile))
            guard !bytes.isEmpty else {
                // Checked after reading, so that bytes written before the close are not lost.
                let isAtEnd = try memory.reader.isAtEnd()
                if isAtEnd || isAppGone { endOutgoing() }
                _ = sendCiphertext()
                return
            }
            // OpenSSL copies the bytes before it encrypts them, so later changes by the app are
            // harmless.
            try session.write(StreamWord.data(bytes.count).bytes)
            try session.write(bytes)
            outgoing.count &+= UInt64(bytes.count)
            moved()
            if memory.reader.consume(bytes.count) { memory.ringForRoom() }
        } catch let error as TLSError {
            return end(.gone("\(error)"))
        } catch {
            return reset(.cancelled)
        }
        if sendCiphertext(), isSendingFile { pumpLater() }
    }

    /// Decrypts data directly into the memory. Returns true if there may be more.
    func takeData(into memory: LocalMemory) -> Bool {
        do throws(BrokenRing) {
            let space = try memory.writer.space(upTo: min(incoming.left, streamLoop.sharedChunk))
            guard !space.isEmpty, case .bytes(let count) = read(into: space) else { return false }
            incoming.pass(count)
            isUnanswered = false
            moved()
            if memory.writer.publish(count) { ringForBytes() }
            return true
        } catch {
            reset(.cancelled)
            return false
        }
    }

    /// Returns the number of bytes for which the app has room, or nil if it broke the ring, which
    /// ends the stream.
    func write(_ bytes: UnsafeRawBufferPointer, to memory: LocalMemory) -> Int? {
        do throws(BrokenRing) {
            let (count, rings) = try memory.writer.write(bytes)
            if rings { ringForBytes() }
            if count > 0 { moved() }
            return count
        } catch {
            reset(.cancelled)
            return nil
        }
    }

    /// Notifies the app that no more bytes follow.
    func endMemory(_ memory: LocalMemory) {
        if memory.writer.end() { ringForBytes() }
    }

    private func ringForBytes() {
        if let raw = local?.raw { Bell.ring(raw) }
    }
}
