internal import Glibc
internal import HandoffCrypto
internal import LoopIO

/// The incoming direction: from TLS to words, and from words to bytes for the app or a file.
extension StreamConnection {
    func takeIncoming() {
        isHeldForRoom = false
        if case .open = state, !deliver() { return }
        reading: while true {
            switch state {
            case .awaitingTicket(let partial): guard takeTicket(after: partial) else { break reading }
            case .open:
                guard local != nil, !incoming.isWaiting, incoming.reset == nil else { break reading }
                guard hasLocalRoom else {
                    isHeldForRoom = true
                    break reading
                }
                guard takeFrames() else { break reading }
            case .parting:
                guard case .bytes = read(into: streamLoop.scratch) else { break reading }
            case .judging, .closed: break reading
            }
        }
    }

    /// Reads more of a ticket. Returns true if there may be more to read.
    private func takeTicket(after partial: [UInt8]) -> Bool {
        let room = UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<(Self.ticketSize - partial.count)])
        guard case .bytes(let count) = read(into: room) else { return false }
        let ticket = partial + room[..<count]
        guard ticket.count == Self.ticketSize else {
            state = .awaitingTicket(ticket)
            return true
        }
        state = .judging
        report(.ticket(ticket))
        return false
    }

    /// Decrypts available data and passes it to the app. Returns true if there may be more.
    private func takeFrames() -> Bool {
        if let memory, receiving == nil, incoming.left >= Self.frontSize { return takeData(into: memory) }
        // With shared memory, reads only the next word and small data after it. Large data is
        // decrypted directly into the memory.
        let room = memory == nil ? streamLoop.scratch[...] : streamLoop.scratch[..<Self.frontSize]
        guard case .bytes(let count) = read(into: UnsafeMutableRawBufferPointer(rebasing: room)) else { return false }
        isUnanswered = false
        let (data, isWhole) = incoming.parse(UnsafeMutableRawBufferPointer(rebasing: streamLoop.scratch[..<count]))
        for range in data {
            guard give(UnsafeRawBufferPointer(rebasing: streamLoop.scratch[range])) else { return false }
        }
        moved()
        if incoming.reset != nil {
            // An app that closed after its last byte has sent everything. Deliver that before
            // ending the stream.
            if incoming.hasEnded { _ = deliver() }
            return false
        }
        guard isWhole else {
            end(.gone("the other side violated the protocol"))
            return false
        }
        return deliver()
    }

    /// Reads plaintext and detects the end of the session.
    func read(into room: UnsafeMutableRawBufferPointer) -> TLSReadCount {
        do throws(TLSError) {
            let outcome = try session.read(into: room)
            if case .closed = outcome { isSessionOver = true }
            return outcome
        } catch {
            if case .parting = state { close() } else { cut("\(error)") }
            return .wouldBlock
        }
    }

    /// Passes bytes to the app and buffers the rest. Returns false if the app has closed its end.
    private func give(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !incoming.isWaiting else {
            incoming.wait(bytes)
            return true
        }
        guard let taken = put(bytes) else { return false }
        if taken < bytes.count { incoming.wait(UnsafeRawBufferPointer(rebasing: bytes[taken...])) }
        return true
    }

    /// True if the next received bytes go to a file.
    var isReceivingFile: Bool {
        receiving.map { incoming.delivered >= $0.position } ?? false
    }

    /// Passes bytes to the file or the app. Returns the number accepted, or nil if the stream has
    /// ended.
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
            releaseCompletePart()
            if taken < wanted { break }
        }
        return done
    }

    /// Releases a file that has received all of its bytes.
    func releaseCompletePart() {
        guard isReceivingFile, let part = receiving, part.isComplete else { return }
        receiving = nil
        finish(part)
    }

    func finish(_ part: ReceivingPart) {
        part.writer.finish { [weak self] result in
            switch result {
            case .success(let total): part.end(.done(total))
            case .failure(let error):
                part.end(.failed(part.moved, "\(error)"))
                self?.reset(.failed)
            }
        }
    }

    func receivingFailed(_ cause: String) {
        guard let part = receiving else { return }
        receiving = nil
        part.writer.cancel()
        part.end(.failed(part.moved, cause))
        reset(.failed)
    }

    /// Delivers buffered bytes, and the end after them, to the app. Returns false if the stream has
    /// ended.
    private func deliver() -> Bool {
        guard local != nil else { return true }
        if incoming.isWaiting {
            let (bytes, start) = incoming.takeWaiting()
            let taken = bytes.withUnsafeBytes { put(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            guard let taken else { return false }
            incoming.putBack(bytes, from: start + taken)
        }
        guard incoming.takeEnd() else { return true }
        if let memory {
            endMemory(memory)
        } else if let raw = local?.raw {
            // Fails only if the app has closed its end, which reading detects.
            _ = shutdown(raw, Int32(SHUT_WR))
        }
        guard let part = receiving else { return true }
        let isWhole = part.length == nil && isReceivingFile
        receiving = nil
        guard !isWhole else {
            finish(part)
            return true
        }
        // The file keeps the received bytes. The other side determines the outcome of the stream
        // itself.
        let cause = "the other side ended its direction early, after \(incoming.delivered) bytes"
        part.writer.finish { _ in part.end(.failed(part.moved, cause)) }
        return true
    }

    /// Returns the number of bytes the app accepted, or nil if it has closed its end, which ends
    /// the stream.
    private func writeLocally(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let raw = local?.raw else { return 0 }
        if let memory { return write(bytes, to: memory) }
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
}
