internal import Glibc
internal import HandoffTLS
internal import LoopIO

/// Memory that the app shares, in the place of its socket.
extension StreamConnection {
    /// Data from so many bytes on is decrypted where the app finds it; smaller data comes with the words around it.
    static let frontSize = 4096

    /// Moves bytes through memory from now on: those of the app from a place of its direction on, those for it at once.
    func share(_ passed: PassedMemory) -> PassedMemory.Outcome {
        guard case .open = state, local != nil, !outgoing.hasEnded, !incoming.isEndDelivered, !isAppGone else {
            return .failed("one of its directions has ended")
        }
        guard memory == nil else { return .failed("it shares memory already") }
        guard passed.position >= outgoing.count else { return .positionPassed(outgoing.count) }
        do throws(Errno) {
            memory = try LocalMemory(passed)
        } catch {
            return .failed("\(error)")
        }
        pumpLater()
        return .shared(received: incoming.delivered)
    }

    /// Whether the app's next bytes are in the memory.
    var isMemoryNext: Bool {
        memory.map { outgoing.count >= $0.position } ?? false
    }

    /// Whether the app has so much room that decrypting for it pays.
    var hasLocalRoom: Bool {
        guard let memory, !isReceivingFile else { return true }
        // Where the rules are broken there is none; `watch` ends the stream.
        return (try? memory.writer.hasRoom()) ?? false
    }

    // MARK: Bells

    /// The app has rung, or has closed its end.
    func listen(_ events: IOEvents) {
        guard isMemoryNext, let raw = local?.raw else {
            if events.contains(.hangUp) { isAppGone = true }
            return
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<Self.frontSize])
        do throws(Errno) {
            let (count, passed) = try LocalSocket.receive(from: raw, passer, into: room)
            if count == 0 { isAppGone = true }
            // Descriptors have no place here.
            if passed != nil { reset(.cancelled) }
        } catch .wouldBlock {
            if events.contains(.hangUp) { isAppGone = true }
        } catch {
            reset(.cancelled)
        }
    }

    /// Says what we wait for, so that the app rings.
    /// - Returns: what to watch for at its socket.
    func watch(_ memory: LocalMemory) -> IOEvents {
        guard case .open = state else { return [] }
        let isReading = wantsOutput && session.waitingCiphertext == 0 && !isSendingFile
        do throws(BrokenRing) {
            var isDue = false
            // Of an app that has gone no bell comes: what it has left is taken at once, and then its end.
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
        // Without anything to read, only a hang-up shows that the app has gone.
        return isMemoryNext || isReading ? .readable : .hangUp
    }

    // MARK: Bytes

    /// Encrypts the next bytes that the app has written.
    func sendShared(_ memory: LocalMemory) {
        do {
            let bytes = try memory.reader.bytes(upTo: min(streamLoop.sharedChunk, untilFile))
            guard !bytes.isEmpty else {
                // What it wrote before it closed its end was seen: it is looked at after that.
                let isAtEnd = try memory.reader.isAtEnd()
                if isAtEnd || isAppGone { endOutgoing() }
                _ = sendCiphertext()
                return
            }
            // OpenSSL copies the bytes before it encrypts them, so it does not matter that the app can still change them.
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

    /// Decrypts data where the app finds it. Returns whether there may be more.
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

    /// Returns how many bytes the app has room for, or nil when it has broken the rules, by which the stream is over.
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

    /// Tells the app that nothing more comes.
    func endMemory(_ memory: LocalMemory) {
        if memory.writer.end() { ringForBytes() }
    }

    private func ringForBytes() {
        if let raw = local?.raw { Bell.ring(raw) }
    }
}
