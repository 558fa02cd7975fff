package import HandoffClient
import HandoffControl
package import HandoffModel
package import LoopIO

/// Receives one content over one stream by performing the actions of its `ReceiverMachine`. To be
/// used on the loop's thread. The creator keeps it until its last event. Releasing it releases the
/// part of the file.
package final class ReceiverTransfer {
    /// The events of a transfer.
    package enum Event {
        /// The content starts to arrive. The first `offset` bytes already exist.
        case begun(TransferHeader, offset: Int64)
        /// The number of bytes of the content that exist now.
        case moved(Int64)
        /// The transfer has ended. The last event.
        case ended(Result<Received, TransferFailure>)
    }

    /// The result of a successful transfer.
    package struct Received {
        /// The path of the content; nil for standard output.
        package let path: String?
        /// Bytes of the content; for a folder, the bytes of its files.
        package let bytes: Int64
        /// The entries omitted by the sender. If there are any, the content is incomplete.
        package let omissions: TransferOmissions
        /// Differences between the sent and the stored content, such as other names, with reasons.
        /// One line each.
        package let remarks: [String]

        package init(path: String?, bytes: Int64, omissions: TransferOmissions = .none, remarks: [String] = []) {
            self.path = path
            self.bytes = bytes
            self.omissions = omissions
            self.remarks = remarks
        }
    }

    /// The parameters of a transfer.
    package struct Options {
        let loop: EventLoop
        /// The destination of the content.
        let destination: Destination
        /// The sending device.
        let sender: DeviceID
        /// Throws if this content is not wanted.
        let accept: (TransferHeader) throws(TransferFailure) -> Void
        /// Writes to standard output, on a thread that may block.
        let writeOutput: @Sendable ([UInt8]) throws -> Void

        package init(
            loop: EventLoop, destination: Destination, sender: DeviceID,
            accept: @escaping (TransferHeader) throws(TransferFailure) -> Void,
            writeOutput: @escaping @Sendable ([UInt8]) throws -> Void
        ) {
            self.loop = loop
            self.destination = destination
            self.sender = sender
            self.accept = accept
            self.writeOutput = writeOutput
        }
    }

    /// The opened destination.
    private enum Place {
        /// Not opened yet, or already released.
        case none
        case output(OutputPump)
        case file(PartFile)
        case folder(PartFolder)
    }

    /// The kept part of a folder, while it is compared and until `prepare`.
    private var archive: FolderArchive?

    /// The consumer of the next bytes of the stream.
    private enum Consumer {
        /// The machine.
        case machine
        /// Not known yet: the file was passed to the daemon, which has not replied. No content
        /// arrives before the reply.
        case undecided(length: Int64)
        /// This program writes the remaining bytes to the file, because the daemon does not.
        case file(left: Int64)
    }

    /// The time limit for the other app to end its direction after success, and for the daemon's
    /// final reply.
    private static let endTimeout = Duration.seconds(3)

    private let stream: ContinuationStream
    private let options: Options
    private let report: (Event) -> Void
    private var machine: ReceiverMachine
    private var isAdvancing = false
    private var place = Place.none
    private var consumer = Consumer.machine
    /// True if the daemon has the file and its final reply is missing.
    private var isPassing = false
    /// True if the end of the other direction arrived before that reply.
    private var isEndHeld = false
    private var hasher: FileHasher?
    private var ending: StreamEnding?
    private var timer: LoopTimer?
    private var header: TransferHeader?
    private var offset: Int64 = 0
    private var moved: Int64 = 0
    private var path: String?
    private var remarks: [String] = []
    /// Bytes of the files of a folder; nil for other content.
    private var folderBytes: Int64?
    private var hasBegun = false
    private var hasEndedOurs = false
    private var isOver = false

    /// - Parameter report: receives the events.
    package init(_ stream: ContinuationStream, _ options: Options, _ report: @escaping (Event) -> Void) {
        self.stream = stream
        self.options = options
        self.report = report
        machine = ReceiverMachine(route: options.destination.route)
    }

    /// Starts the transfer.
    package func start() {
        stream.onEnd = { [weak self] in self?.endReceived() }
        stream.onError = { [weak self] _ in
            self?.advance { $0.abort(TransferFailure(.gone, "the connection to the daemon was lost")) }
        }
        stream.onRead = { [weak self] bytes in self?.received(bytes) }
    }

    /// Cancels the transfer for this reason and notifies the other device.
    package func cancel(_ reason: TransferFailure = TransferFailure(.cancelled, "the receiver cancelled it")) {
        advance { $0.fail(reason) }
    }

    /// True if nothing happens until the other device sends data.
    package var awaitsSender: Bool { machine.awaitsSender }

    // MARK: - Input

    private func received(_ bytes: [UInt8]) {
        switch consumer {
        case .machine, .undecided:
            advance { $0.received(bytes) }
        case .file(let left):
            let mine = bytes.prefix(Int(clamping: left))
            consumer = .file(left: left - Int64(mine.count))
            do throws(TransferFailure) {
                try write(Array(mine))
            } catch {
                return advance { $0.fail(error) }
            }
            guard left == Int64(mine.count) else { return }
            consumer = .machine
            advance { $0.bytesReceived() }
            if mine.count < bytes.count { received(Array(bytes[mine.endIndex...])) }
        }
    }

    private func endReceived() {
        if isOver { return conclude(.success(())) }
        // The daemon's reply about the file arrives on another connection, possibly after the bytes
        // that follow the file.
        guard !isPassing else {
            isEndHeld = true
            timer = options.loop.timer(after: Self.endTimeout) { [weak self] in self?.endNow() }
            return
        }
        advance { $0.endReceived() }
    }

    /// Handles an end that was held back.
    private func endNow() {
        timer = nil
        isPassing = false
        isEndHeld = false
        endReceived()
    }

    // MARK: - Actions

    /// Passes input to the machine and performs the resulting actions in order.
    private func advance(_ input: (inout ReceiverMachine) -> Void) {
        input(&machine)
        // An action that completes immediately calls this again. The outer call continues.
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while let action = machine.next() {
            do throws(TransferFailure) {
                try run(action)
            } catch {
                machine.fail(error)
            }
        }
    }

    private func run(_ action: ReceiverAction) throws(TransferFailure) {
        switch action {
        case .send(let bytes): stream.write(bytes)
        case .open(let header): try open(header)
        case .prepare(let offset, let length): try prepare(offset, length)
        case .receiveBytes(let position, let length): try pass(position, length)
        case .write(let bytes): try write(bytes)
        case .finish: try finish()
        case .end:
            hasEndedOurs = true
            stream.endWriting()
        case .succeed: succeed()
        case .fail(let failure): fail(failure)
        }
    }

    private func open(_ header: TransferHeader) throws(TransferFailure) {
        try options.accept(header)
        self.header = header
        switch try options.destination.open(header, from: options.sender) {
        case .standardOutput:
            let pump = try OutputPump(options.writeOutput, on: options.loop)
            pump.onRoom = { [weak self] failure in
                guard let self, !isOver else { return }
                if let failure { advance { $0.fail(failure) } } else { stream.resumeReading() }
            }
            place = .output(pump)
        case .folder(let part):
            place = .folder(part)
            archive = try part.makeArchive()
            if archive != nil { return options.loop.later { [weak self] in self?.compareMore() } }
        case .file(let part):
            place = .file(part)
            guard part.resumable > 0 else { break }
            try options.destination.compare(part.stored)
            let hasher = try part.makeHasher()
            self.hasher = hasher
            hasher.digest(part.resumable, on: options.loop) { [weak self] result in
                guard let self else { return }
                // If the part cannot be read, the transfer starts again.
                let have = (try? result.get()).flatMap { TransferHave(offset: part.resumable, digest: $0) }
                opened(have)
            }
            return
        }
        opened(nil)
    }

    private func opened(_ have: TransferHave?) {
        options.destination.endComparison()
        advance { $0.opened(have ?? .nothing) }
    }

    /// Hashes the next piece of the kept part of a folder, and continues in a later turn.
    private func compareMore() {
        guard let archive, !isOver else { return }
        do throws(TransferFailure) {
            let before = archive.bytes
            let digest: ContentDigest?
            do throws(TransferFailure) {
                digest = try archive.compare()
            } catch {
                // If a file cannot be read, the folder is sent from its beginning.
                return opened(nil)
            }
            try options.destination.compare(archive.bytes - before)
            guard let digest else { return options.loop.later { [weak self] in self?.compareMore() } }
            let beginning = archive.beginning
            opened(TransferHave(offset: beginning.entries, digest: digest, lastBytes: beginning.lastBytes))
        } catch {
            advance { $0.fail(error) }
        }
    }

    private func prepare(_ offset: Int64, _ length: Int64?) throws(TransferFailure) {
        guard let header else { return }
        if case .file(let part) = place {
            hasher = nil
            try part.prepare(offset: offset, length: length)
        }
        var position = offset
        if case .folder(let part) = place {
            let kept = offset > 0 ? archive : nil
            try part.prepare(behind: kept)
            // For a folder, the offset counts entries, not bytes.
            position = kept?.position ?? 0
            archive = nil
        }
        self.offset = position
        // The content continues after a hole.
        guard !hasBegun else { return moved(to: position) }
        hasBegun = true
        moved = position
        report(.begun(header, offset: position))
    }

    // MARK: - Bytes of the content

    private func pass(_ position: Int64, _ length: Int64) throws(TransferFailure) {
        guard case .file(let part) = place else { return }
        consumer = .undecided(length: length)
        isPassing = true
        stream.passFile(.receive, position: Int(position), length: Int(length), descriptor: part.number) {
            [weak self] result in
            guard let self, !isOver else { return }
            switch result {
            case .success(let reply): passed(reply)
            case .failure(let error): passFailed(error)
            }
            if !isPassing, isEndHeld, !isOver { endNow() }
        }
    }

    private func passed(_ reply: PassFileReply) {
        if case .undecided = consumer {
            consumer = .machine
            advance { $0.ready() }
        }
        options.destination.arrived(max(0, offset + Int64(reply.moved) - moved))
        moved(to: offset + Int64(reply.moved))
        guard reply.done else { return }
        isPassing = false
        advance { $0.bytesReceived() }
    }

    private func passFailed(_ error: ClientError) {
        isPassing = false
        guard case .file(let part) = place else { return }
        let refusals: [AppErrorName] = [.positionPassed, .invalidDescriptor, .fileFailed]
        guard case .refused(let refusal) = error, case .undecided(let length) = consumer,
            refusals.contains(where: { $0.rawValue == refusal.name })
        else { return advance { $0.abort(TransferFailure(daemon: error, "cannot write \(part.path)")) } }
        // The daemon cannot use this file, or not now. The bytes arrive over the connection.
        consumer = .file(left: length)
        advance { $0.ready() }
    }

    private func moved(to position: Int64) {
        moved = position
        report(.moved(position))
    }

    private func write(_ bytes: [UInt8]) throws(TransferFailure) {
        switch place {
        case .none: return
        case .output(let pump): if !pump.give(bytes) { stream.pauseReading() }
        case .file(let part): try part.write(bytes)
        case .folder(let part): try part.write(bytes)
        }
        options.destination.arrived(Int64(bytes.count))
        moved += Int64(bytes.count)
        report(.moved(moved))
    }

    // MARK: - The end

    private func finish() throws(TransferFailure) {
        switch place {
        case .none: break
        case .file(let part):
            path = try part.finish()
            remarks = part.remarks
        case .folder(let part):
            path = try part.finish()
            remarks = part.remarks
            folderBytes = part.contentBytes
        case .output(let pump):
            return pump.empty { [weak self] result in
                guard let self else { return }
                switch result {
                case .success: advance { $0.finished() }
                case .failure(let failure): advance { $0.fail(failure) }
                }
            }
        }
        advance { $0.finished() }
    }

    /// Waits until the other app has ended its direction. Closing earlier could discard the last
    /// bytes sent to it.
    private func succeed() {
        isOver = true
        stream.onError = { [weak self] _ in self?.conclude(.success(())) }
        timer = options.loop.timer(after: Self.endTimeout) { [weak self] in self?.conclude(.success(())) }
        stream.resumeReading()
    }

    private func fail(_ failure: TransferFailure) {
        isOver = true
        hasher?.cancel()
        // No other attempt can continue it, because the file has another id by now.
        if failure.reason == .changed, failure.isReported {
            switch place {
            case .none, .output: break
            case .file(let part): part.discard()
            case .folder(let part): part.discardFile()
            }
        }
        stream.onRead = nil
        stream.onEnd = nil
        stream.onError = nil
        ending = StreamEnding(failure, of: stream, on: options.loop) { [weak self] in self?.conclude(.failure($0))
        }
    }

    private func conclude(_ result: Result<Void, TransferFailure>) {
        // Called once, because the handlers of the stream have been removed.
        timer = nil
        if hasEndedOurs { stream.finish(within: Self.endTimeout) } else { stream.close() }
        // More bytes may have arrived since the last report.
        if case .failure = result, case .file(let part) = place, moved > 0 { moved(to: part.length) }
        // Releases the lock of the part.
        place = .none
        hasher = nil
        report(
            .ended(
                result.map {
                    Received(
                        path: path, bytes: folderBytes ?? moved, omissions: machine.omissions, remarks: remarks)
                }))
    }
}
