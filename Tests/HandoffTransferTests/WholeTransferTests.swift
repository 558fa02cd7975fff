import Glibc
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import LoopIO
import Testing

/// Both programs of the transfer of a real file in one loop, with a stream in memory and simulated
/// daemons. Performs the actions as a command does.
private final class WholeTransfer {
    private let test: LoopTest
    private let source: SourceFile
    private let destination: Destination
    private var sender: SenderMachine
    private var receiver: ReceiverMachine
    private var part: PartFile?
    private var hashers: (sender: FileHasher, receiver: FileHasher?)
    /// The stream breaks after this many bytes of the file.
    private let cut: Int64
    /// Runs once the bytes of the source have been sent.
    private let behindBytes: () -> Void

    private(set) var moved: Int64 = 0
    private(set) var path: String?
    private(set) var failures: (sender: TransferFailure?, receiver: TransferFailure?)

    init(from: String, to: String, cut: Int64 = .max, behindBytes: @escaping () -> Void = {}) throws {
        test = try LoopTest()
        source = try SourceFile(from)
        destination = try Destination(output: to)
        sender = SenderMachine(header: source.header)
        receiver = ReceiverMachine(route: destination.route)
        hashers = (try source.makeHasher(), nil)
        self.cut = cut
        self.behindBytes = behindBytes
    }

    func run() throws {
        sender.start()
        advance()
        try test.run()
    }

    /// Performs the actions of both machines.
    private func advance() {
        while true {
            if let action = sender.next() {
                do throws(TransferFailure) { try perform(action) } catch { sender.fail(error) }
            } else if let action = receiver.next() {
                do throws(TransferFailure) { try perform(action) } catch { receiver.fail(error) }
            } else {
                break
            }
        }
        if sender.isEnded, receiver.isEnded { test.end() }
    }

    private func perform(_ action: SenderAction) throws(TransferFailure) {
        switch action {
        case .send(let bytes): receiver.received(bytes)
        case .hashPrefix(let length):
            hashers.sender.digest(length, on: test.loop) { [self] in answer($0) { sender.prefixHashed($0) } }
        case .findData(let offset): sender.dataFound(source.data(from: offset))
        case .sendBytes(_, let offset, let length):
            try source.seek(to: offset)
            try move(length)
        case .confirm:
            behindBytes()
            try source.requireUnchanged()
            sender.confirmed()
        case .hashEntries, .readContent, .end, .succeed: break
        case .fail(let failure): failures.sender = failure
        }
    }

    private func answer(
        _ result: Result<ContentDigest, TransferFailure>, _ next: (ContentDigest) -> Void
    ) {
        switch result {
        case .success(let digest): next(digest)
        case .failure(let failure): sender.fail(failure)
        }
        advance()
    }

    /// Simulates the daemons. The offsets of both descriptors define the ranges.
    private func move(_ length: Int64) throws(TransferFailure) {
        guard let part else { return }
        var bytes = [UInt8](repeating: 0, count: Int(min(length, cut - moved)))
        #expect(read(source.number, &bytes, bytes.count) == bytes.count)
        #expect(write(part.number, bytes, bytes.count) == bytes.count)
        moved += Int64(bytes.count)
        if bytes.count < length {
            let gone = TransferFailure(.gone, "cut")
            receiver.abort(gone)
            sender.abort(gone)
        } else {
            receiver.bytesReceived()
            sender.bytesSent()
        }
    }

    private func perform(_ action: ReceiverAction) throws(TransferFailure) {
        switch action {
        case .send(let bytes): sender.received(bytes)
        case .open(let header):
            guard let device = try? HandoffTransferTests.sender(),
                case .file(let part) = try destination.open(header, from: device)
            else { return }
            self.part = part
            let hasher = try part.makeHasher()
            hashers.receiver = hasher
            hasher.digest(part.resumable, on: test.loop) { [self] result in
                let have = TransferHave(
                    offset: part.resumable, digest: part.resumable > 0 ? try? result.get() : nil)
                receiver.opened(have ?? .nothing)
                advance()
            }
        case .prepare(let offset, let length):
            try part?.prepare(offset: offset, length: length)
        case .receiveBytes: receiver.ready()
        case .finish:
            path = try part?.finish()
            receiver.finished()
        case .write, .end, .succeed: break
        case .fail(let failure):
            failures.receiver = failure
            // Another attempt may continue it.
            part = nil
        }
    }
}

@Suite struct WholeTransferTests {
    @Test(arguments: [0, 1, 399_999, 400_000] as [Int64])
    func `a file that is interrupted at any position continues there, and arrives`(at place: Int64) throws {
        let folder = try TestFolder()
        folder.make("in")
        var random = SeededRandom(state: 3)
        let content = random.bytes(400_000)
        let path = try folder.write(content, to: "a.bin", mode: 0o640)
        do {
            let first = try WholeTransfer(from: path, to: folder.file("in"), cut: place)
            try first.run()
            #expect(first.moved == min(place, 400_000))
            #expect((first.failures.receiver?.reason == .gone) == (place < 400_000))
        }
        if place < 400_000 {
            #expect(folder.read("in/a.bin") == nil)
            let second = try WholeTransfer(from: path, to: folder.file("in"))
            try second.run()
            #expect(second.moved == 400_000 - place)
            #expect(second.path == folder.file("in/a.bin"))
        }
        #expect(folder.read("in/a.bin") == content)
        #expect(folder.mode("in/a.bin") == 0o640)
        #expect(shell("ls -A '\(folder.file("in"))'") == "a.bin\n")
    }

    /// A file of 12 MiB and 5 bytes with data at 4 MiB, at 8 MiB, and again after a gap that is too
    /// small to count as a hole.
    private static let sparse = """
        truncate -s 12582917 "$1"; for place in 1024 2048 2052; do
        head -c 4096 /dev/urandom | dd of="$1" bs=4096 seek=$place conv=notrunc status=none; done
        """

    @Test(arguments: [.max, 0, 1, 4096, 10_000] as [Int64])
    func `a file with holes arrives with holes, also after an interruption`(at place: Int64) throws {
        let folder = try TestFolder()
        folder.make("in")
        let path = folder.file("a.img")
        _ = shell("set -- '\(path)'; \(Self.sparse)")
        let isSparse = shell("stat -c %b '\(path)'") != shell("echo $((12582917 / 512 + 1))")
        let first = try WholeTransfer(from: path, to: folder.file("in"), cut: place)
        try first.run()
        var moved = first.moved
        if place < .max {
            #expect(first.failures.receiver?.reason == .gone)
            let second = try WholeTransfer(from: path, to: folder.file("in"))
            try second.run()
            moved += second.moved
        }
        #expect(shell("cmp '\(path)' '\(folder.file("in/a.img"))' && echo equal") == "equal\n")
        // The file system of the test may not support holes.
        guard isSparse else { return }
        #expect(moved == 4096 + 5 * 4096)
        #expect((Int(shell("stat -c %b '\(folder.file("in/a.img"))'").dropLast()) ?? .max) < 1024)
    }

    @Test
    func `a file that changes once its bytes are sent is rejected, and the received part is kept`() throws {
        let folder = try TestFolder()
        folder.make("in")
        let path = try folder.write([1, 2, 3], to: "a")
        let transfer = try WholeTransfer(from: path, to: folder.file("in")) { _ = shell("printf xyz > '\(path)'") }
        try transfer.run()
        #expect(transfer.failures.sender?.reason == .changed)
        #expect(transfer.failures.receiver?.reason == .changed && transfer.failures.receiver?.isReported == true)
        #expect(folder.read("in/a") == nil && transfer.path == nil)
    }
}
