package import HandoffClient
import HandoffControl
package import LoopIO

/// Sends one content over one stream by performing the actions of its `SenderMachine`. To be used
/// on the loop's thread. The creator keeps it until its last event.
package final class SenderTransfer {
    /// The events of a transfer.
    package enum Event {
        /// The other device accepts the content. Sending starts at this byte of it.
        case begun(offset: Int64)
        /// The number of bytes sent so far, including those that the other device already had.
        case moved(Int64)
        /// An entry was omitted, for the stated reason.
        case note(String)
        /// The transfer has ended; nil means success. The last event.
        case ended(TransferFailure?)
    }

    /// Bytes read from standard input at a time.
    private static let piece = 262_144

    /// The source of the content.
    package let source: SourceFile
    private let stream: ContinuationStream
    private let loop: EventLoop
    private let readInput: @Sendable (Int) throws -> [UInt8]
    private let report: (Event) -> Void
    private var machine: SenderMachine
    private var isAdvancing = false
    /// True if the stream accepts more bytes now.
    private var hasRoom = true
    private var hasher: FileHasher?
    private var archive: FolderArchive?
    private var reader: Worker?
    private var ending: StreamEnding?
    /// The start of the part that is being sent.
    private var offset: Int64 = 0
    /// Bytes of the content sent so far; for a folder, bytes of its archive.
    private var moved: Int64 = 0
    /// Bytes of the files of a folder that have been read; nil for other content.
    private var folderBytes: Int64?
    /// Bytes sent, as users count them: for a folder, the bytes of its files.
    package var contentBytes: Int64 { folderBytes ?? moved }
    /// The entries of a folder omitted so far.
    package private(set) var omissions = TransferOmissions.none
    private var hasBegun = false
    /// True while content of unknown size is being read.
    private var isReading = false
    private var hasEndedOurs = false
    private var isOver = false

    /// - Parameters:
    ///   - readInput: reads standard input, on a thread that may block. Returns no bytes at its
    ///     end.
    ///   - report: receives the events, never during a call.
    package init(
        _ source: SourceFile, over stream: ContinuationStream, on loop: EventLoop,
        readInput: @escaping @Sendable (Int) throws -> [UInt8], _ report: @escaping (Event) -> Void
    ) {
        self.source = source
        self.stream = stream
        self.loop = loop
        self.readInput = readInput
        self.report = report
        machine = SenderMachine(header: source.header)
    }

    /// Starts the transfer.
    package func start() {
        stream.onEnd = { [weak self] in self?.advance { $0.endReceived() } }
        stream.onError = { [weak self] _ in
            self?.advance { $0.abort(TransferFailure(.gone, "the connection to the daemon was lost")) }
        }
        stream.onDrained = { [weak self] in self?.readMore() }
        stream.onRead = { [weak self] bytes in self?.advance { $0.received(bytes) } }
        advance { $0.start() }
    }

    /// Cancels the transfer and notifies the other device if possible.
    package func cancel() {
        advance { $0.fail(TransferFailure(.cancelled, "the sender cancelled it")) }
    }

    // MARK: - Actions

    /// Passes input to the machine and performs the resulting actions in order.
    private func advance(_ input: (inout SenderMachine) -> Void) {
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

    private func run(_ action: SenderAction) throws(TransferFailure) {
        switch action {
        case .send(let bytes): hasRoom = stream.write(bytes)
        case .hashPrefix(let length):
            let hasher = try source.makeHasher()
            self.hasher = hasher
            hasher.digest(length, on: loop) { [weak self] result in
                guard let self else { return }
                self.hasher = nil
                switch result {
                case .success(let digest): advance { $0.prefixHashed(digest) }
                case .failure(let failure): advance { $0.fail(failure) }
                }
            }
        case .hashEntries(let have):
            archive = try source.makeArchive(behind: .init(entries: have.offset, lastBytes: have.lastBytes))
            loop.later { [weak self] in self?.compareMore() }
        case .findData(let offset):
            if !hasBegun { begin(at: offset) }
            let run = source.data(from: offset)
            advance { $0.dataFound(run) }
        case .sendBytes(let position, let offset, let length):
            try source.seek(to: offset)
            if !hasBegun { begin(at: offset) }
            self.offset = offset
            pass(position, length)
        case .confirm:
            // Nothing was sent if the other device already has everything.
            if !hasBegun { begin(at: source.header.size ?? 0) }
            // A trailing hole need not be sent.
            if let size = source.header.size, moved < size {
                moved = size
                report(.moved(size))
            }
            try source.requireUnchanged()
            advance { $0.confirmed() }
        case .readContent(let entries):
            if source.header.kind == .folder, entries == 0 { archive = try source.makeArchive() }
            begin(at: archive?.position ?? 0)
            isReading = true
            if source.header.kind != .folder {
                do throws(Errno) {
                    reader = try Worker(name: "input")
                } catch {
                    throw .system("cannot read \(source.path)", error)
                }
            }
            readMore()
        case .end:
            hasEndedOurs = true
            stream.endWriting()
        case .succeed: finish(nil)
        case .fail(let failure): finish(failure)
        }
    }

    private func begin(at offset: Int64) {
        hasBegun = true
        self.offset = offset
        moved = offset
        report(.begun(offset: offset))
    }

    // MARK: - Files

    private func pass(_ position: Int64, _ length: Int64) {
        stream.passFile(.send, position: Int(position), length: Int(length), descriptor: source.number) {
            [weak self] result in
            guard let self, !isOver else { return }
            switch result {
            case .success(let reply):
                moved = offset + Int64(reply.moved)
                report(.moved(moved))
                guard reply.done else { return }
                advance { $0.bytesSent() }
            case .failure(let error):
                var failure = TransferFailure(daemon: error, "cannot send \(source.path)")
                // If the file became shorter, the daemon reports an early end without knowing why.
                do throws(TransferFailure) { try source.requireUnchanged() } catch { failure = error }
                advance { $0.fail(failure) }
            }
        }
    }

    // MARK: - Folders and standard input

    /// Hashes the next piece of the archive's beginning, and continues in a later turn.
    private func compareMore() {
        guard let archive, !isOver else { return }
        do throws(TransferFailure) {
            guard let digest = try archive.compare() else {
                return loop.later { [weak self] in self?.compareMore() }
            }
            advance { $0.prefixHashed(digest) }
        } catch {
            advance { $0.fail(error) }
        }
    }

    /// Reads the next piece. Continues when the stream accepts more.
    private func readMore() {
        guard isReading, !isOver else { return }
        if let archive {
            do throws(TransferFailure) {
                let piece = try archive.next()
                omissions = archive.omissions
                folderBytes = archive.contentBytes
                for note in archive.takeNotes() { report(.note(note)) }
                give(piece ?? [], isEnd: piece == nil)
            } catch {
                advance { $0.fail(error) }
            }
        } else if let reader {
            let read = readInput
            let piece = Self.piece
            reader.run({ [source] in try source.read(limit: piece) ?? read(piece) }, on: loop) { [weak self] result in
                guard let self, !isOver else { return }
                switch result {
                case .success(let bytes): give(bytes, isEnd: bytes.isEmpty)
                case .failure(let error as TransferFailure): advance { $0.fail(error) }
                case .failure(let error):
                    advance { $0.fail(TransferFailure(.unreadable, "cannot read \(self.source.path): \(error)")) }
                }
            }
        }
    }

    private func give(_ bytes: [UInt8], isEnd: Bool) {
        guard !isEnd else {
            isReading = false
            return advance { $0.contentEnded(omitting: omissions) }
        }
        advance { $0.content(bytes) }
        moved += Int64(bytes.count)
        report(.moved(moved))
        // Runs in a later turn, so that other work can run between two pieces.
        if hasRoom { loop.later { [weak self] in self?.readMore() } }
    }

    // MARK: - The end

    private func finish(_ failure: TransferFailure?) {
        guard !isOver else { return }
        isOver = true
        isReading = false
        hasher?.cancel()
        stream.onRead = nil
        stream.onEnd = nil
        stream.onDrained = nil
        stream.onError = nil
        guard let failure else { return conclude(nil) }
        ending = StreamEnding(failure, of: stream, on: loop) { [weak self] in self?.conclude($0) }
    }

    private func conclude(_ failure: TransferFailure?) {
        // In the middle of a file, only closing the stream signals the end.
        if hasEndedOurs { stream.finish() } else { stream.close() }
        archive = nil
        reader = nil
        report(.ended(failure))
    }
}
