import HandoffModel
import HandoffTransfer
import Testing

/// A stream between two machines, in memory. Bytes arrive in random pieces, and both daemons are
/// simulated.
private struct Rehearsal {
    var sender: SenderMachine
    var receiver: ReceiverMachine
    /// The content, and the part that the receiver already has.
    var content: [UInt8]
    var stored: [UInt8]
    var claims: TransferHave?
    /// The ranges of the sender's file with data; nil means everywhere.
    var runs: [Range<Int64>]?
    var random: SeededRandom

    var toReceiver: [UInt8] = []
    var toSender: [UInt8] = []
    var senderEnded = false
    var receiverEnded = false
    /// Bytes sent in the sender's direction, and those accepted by the receiver's daemon.
    var left = 0
    var arrived = 0
    /// Bytes still to be written to the receiver's file.
    var diverted: (position: Int64, length: Int64)?
    var divertedLeft = 0
    var isFinished = false
    var prepared: Int64?
    var moved: Int64 = 0
    var outcomes: (sender: TransferFailure?, receiver: TransferFailure?) = (nil, nil)
    var succeeded = (sender: false, receiver: false)

    init(_ content: [UInt8], header: TransferHeader, route: ReceiverMachine.Route = .passed, seed: UInt64) {
        self.content = content
        stored = []
        sender = SenderMachine(header: header)
        receiver = ReceiverMachine(route: route)
        random = SeededRandom(state: seed)
    }

    mutating func run() {
        sender.start()
        // A transfer takes a few hundred turns. A machine that waits for nothing exceeds them.
        for _ in 0..<10_000 {
            settle()
            if sender.isEnded, receiver.isEnded { return }
            let sentAny = deliver()
            if !sentAny {
                sender.endReceived()
                receiver.endReceived()
            }
        }
    }

    private mutating func deliver() -> Bool {
        if !toReceiver.isEmpty, Bool.random(using: &random) || toSender.isEmpty {
            // Up to the start or end of the file's bytes, where the daemon splits.
            var count = Int.random(in: 1...min(toReceiver.count, 700), using: &random)
            if let diverted, Int64(arrived) < diverted.position {
                count = min(count, Int(diverted.position) - arrived)
            } else if diverted != nil, divertedLeft > 0 {
                count = min(count, divertedLeft)
                stored += toReceiver.prefix(count)
                toReceiver.removeFirst(count)
                arrived += count
                divertedLeft -= count
                // The daemon reports this some time later.
                return true
            }
            if diverted != nil, divertedLeft == 0, Bool.random(using: &random) { finishDiverted() }
            let piece = Array(toReceiver.prefix(count))
            toReceiver.removeFirst(count)
            arrived += count
            receiver.received(piece)
            return true
        }
        if diverted != nil, divertedLeft == 0 {
            finishDiverted()
            return true
        }
        guard !toSender.isEmpty else { return false }
        let count = Int.random(in: 1...toSender.count, using: &random)
        let piece = Array(toSender.prefix(count))
        toSender.removeFirst(count)
        sender.received(piece)
        return true
    }

    private mutating func finishDiverted() {
        diverted = nil
        receiver.bytesReceived()
    }

    /// Performs the actions of both machines.
    private mutating func settle() {
        while true {
            if let action = sender.next() {
                perform(action)
            } else if let action = receiver.next() {
                perform(action)
            } else {
                return
            }
        }
    }

    private mutating func perform(_ action: SenderAction) {
        switch action {
        case .send(let bytes):
            #expect(!senderEnded)
            toReceiver += bytes
            left += bytes.count
        case .hashPrefix(let length):
            sender.prefixHashed(SHA256Hasher.digest(of: content.prefix(Int(length))))
        case .hashEntries(let have): sender.prefixHashed(SHA256Hasher.digest(of: content.prefix(Int(have.offset))))
        case .findData(let offset):
            let size = Int64(content.count)
            let run = (runs ?? [0..<size]).first { $0.upperBound > offset } ?? size..<size
            sender.dataFound(max(run.lowerBound, offset)..<run.upperBound)
        case .sendBytes(let position, let offset, let length):
            #expect(position == Int64(left))
            toReceiver += content[Int(offset)..<Int(offset + length)]
            left += Int(length)
            moved += length
            sender.bytesSent()
        case .confirm: sender.confirmed()
        case .readContent(let from):
            var rest = content[Int(from)...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...3000, using: &random))
                rest = rest.dropFirst(piece.count)
                sender.content(Array(piece))
            }
            sender.contentEnded()
        case .end: senderEnded = true
        case .succeed: succeeded.sender = true
        case .fail(let failure): outcomes.sender = failure
        }
    }

    private mutating func perform(_ action: ReceiverAction) {
        switch action {
        case .send(let bytes):
            #expect(!receiverEnded)
            toSender += bytes
        case .open:
            receiver.opened(claims ?? .nothing)
        case .prepare(let offset, _):
            prepared = prepared ?? offset
            stored = stored.prefix(Int(offset)) + [UInt8](repeating: 0, count: max(0, Int(offset) - stored.count))
        case .receiveBytes(let position, let length):
            #expect(position == Int64(arrived))
            diverted = (position, length)
            divertedLeft = Int(length)
            receiver.ready()
        case .write(let bytes): stored += bytes
        case .finish:
            isFinished = true
            receiver.finished()
        case .end: receiverEnded = true
        case .succeed: succeeded.receiver = true
        case .fail(let failure): outcomes.receiver = failure
        }
    }
}

private func fileHeader(_ size: Int) throws -> TransferHeader {
    try #require(TransferHeader(kind: .file, name: "a", size: Int64(size), id: try transferID()))
}

@Suite struct MachineTests {
    @Test(arguments: UInt64(0)..<60)
    func `a file arrives unchanged, whatever pieces the stream delivers`(seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let content = random.bytes([0, 1, 2, 511, 5000, 70_000][Int(seed % 6)])
        let route: ReceiverMachine.Route = seed % 5 == 0 ? .inline : .passed
        var rehearsal = Rehearsal(content, header: try fileHeader(content.count), route: route, seed: seed)
        rehearsal.run()
        #expect(rehearsal.stored == content)
        #expect(rehearsal.isFinished && rehearsal.succeeded.sender && rehearsal.succeeded.receiver)
        #expect(rehearsal.senderEnded && rehearsal.receiverEnded)
        #expect(rehearsal.sender.sent == Int64(rehearsal.left))
        #expect(rehearsal.receiver.position == Int64(rehearsal.left))
    }

    @Test(arguments: UInt64(0)..<40)
    func `content of unknown size arrives unchanged`(seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let content = random.bytes([0, 1, 4097, 90_000][Int(seed % 4)])
        let kind: TransferHeader.Kind = seed % 2 == 0 ? .stream : .folder
        let header = try #require(TransferHeader(kind: kind, name: "a"))
        var rehearsal = Rehearsal(content, header: header, route: seed % 3 == 0 ? .inline : .passed, seed: seed)
        rehearsal.run()
        #expect(rehearsal.stored == content)
        #expect(rehearsal.succeeded.sender && rehearsal.succeeded.receiver)
    }

    @Test(arguments: [0, 1, 2500, 4999, 5000], UInt64(0)..<4)
    func `an interrupted transfer continues where it stopped`(have: Int, seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let content = random.bytes(5000)
        var rehearsal = Rehearsal(content, header: try fileHeader(5000), seed: seed)
        rehearsal.stored = Array(content.prefix(have))
        rehearsal.claims =
            have == 0 ? nil : TransferHave(offset: Int64(have), digest: SHA256Hasher.digest(of: rehearsal.stored))
        rehearsal.run()
        #expect(rehearsal.stored == content)
        #expect(rehearsal.succeeded.sender && rehearsal.succeeded.receiver)
        #expect(rehearsal.moved == Int64(5000 - have))
        #expect(rehearsal.prepared == Int64(have))
    }

    @Test(arguments: [1, 5000, 5001])
    func `a part that is not a beginning of the content is replaced`(have: Int) throws {
        let content = [UInt8](repeating: 7, count: 5000)
        var rehearsal = Rehearsal(content, header: try fileHeader(5000), seed: 3)
        rehearsal.stored = [UInt8](repeating: 8, count: have)
        rehearsal.claims = TransferHave(offset: Int64(have), digest: SHA256Hasher.digest(of: rehearsal.stored))
        rehearsal.run()
        #expect(rehearsal.stored == content)
        #expect(rehearsal.succeeded.receiver)
        #expect(rehearsal.moved == 5000)
    }

    @Test(arguments: [0, 1, 1000, 2000, 2500, 4999, 5000], UInt64(0)..<8)
    func `only the data of a file with holes is sent`(have: Int, seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let runs: [Range<Int64>] = [
            [0..<1000, 2000..<3000], [1000..<2000, 4000..<5000], [10..<20, 30..<40, 4990..<5000], [],
        ][Int(seed % 4)]
        var content = [UInt8](repeating: 0, count: 5000)
        for run in runs {
            content.replaceSubrange(Int(run.lowerBound)..<Int(run.upperBound), with: random.bytes(run.count))
        }
        let isInline = seed >= 4
        var rehearsal = Rehearsal(
            content, header: try fileHeader(5000), route: isInline ? .inline : .passed, seed: seed)
        rehearsal.runs = runs
        rehearsal.stored = isInline ? [] : Array(content.prefix(have))
        rehearsal.claims =
            have == 0 ? nil : TransferHave(offset: Int64(have), digest: SHA256Hasher.digest(of: content.prefix(have)))
        rehearsal.run()
        #expect(rehearsal.stored == content)
        #expect(rehearsal.isFinished && rehearsal.succeeded.sender && rehearsal.succeeded.receiver)
        let missing = runs.reduce(0) { $0 + max(0, $1.upperBound - max($1.lowerBound, Int64(have))) }
        #expect(rehearsal.moved == (isInline ? 5000 : missing))
        #expect(rehearsal.sender.sent == rehearsal.receiver.position)
    }

    /// Starts for a receiver that has five bytes, and whether each is valid.
    @Test(
        arguments: [
            ([(0, 2), (3, 2)], true), ([(0, 0), (3, 2)], true), ([(0, 2), (2, 3)], true), ([(0, 2), (5, 0)], true),
            ([(0, 2), (1, 4)], false), ([(0, 2), (3, 3)], false), ([(0, 2), (6, 0)], false), ([(1, 4)], false),
            ([(0, 6)], false),
            ([(0, 2)], false), ([(0, 0)], false), ([(0, 5), (5, 0)], false),
        ] as [([(Int64, Int64)], Bool)])
    func `parts of a file follow each other up to its end, or the transfer is refused`(
        starts: [(Int64, Int64)], isRight: Bool
    ) throws {
        var receiver = ReceiverMachine()
        try receiver.after { $0.received(TransferFrame.header(try fileHeader(5)).encoded()) }
        receiver.after { $0.opened() }
        for (offset, length) in starts {
            try receiver.after {
                $0.received(TransferFrame.start(try #require(TransferStart(offset: offset, length: length))).encoded())
            }
            receiver.after { $0.ready() }
            receiver.after { $0.bytesReceived() }
        }
        let last = receiver.after { $0.received(TransferFrame.complete(.none).encoded()) }
        #expect(last.contains(.finish) == isRight)
        #expect(receiver.isEnded == !isRight)
    }

    @Test
    func `a file is sent in one part to a receiver that creates no holes`() throws {
        var sender = SenderMachine(header: try fileHeader(5))
        sender.after { $0.start() }
        let start = try #require(TransferStart(offset: 0, length: 5))
        #expect(
            sender.after { $0.received(TransferFrame.have(.nothing).encoded()) } == [
                .send(TransferFrame.start(start).encoded())
            ])
    }

    @Test
    func `a changed source is reported after its bytes, and the received part is kept`() throws {
        var sender = SenderMachine(header: try fileHeader(3))
        sender.after { $0.start() }
        sender.after { $0.received(TransferFrame.have(.nothing).encoded()) }
        sender.after { $0.received(TransferFrame.go.encoded()) }
        let changed = TransferFailure(.changed, "a was changed")
        sender.after { $0.bytesSent() }
        #expect(
            sender.after { $0.fail(changed) } == [.send(TransferFrame.error(changed).encoded()), .end, .fail(changed)])

        var receiver = ReceiverMachine()
        try receiver.after { $0.received(TransferFrame.header(try fileHeader(3)).encoded()) }
        receiver.after { $0.opened() }
        try receiver.after {
            $0.received(TransferFrame.start(try #require(TransferStart(offset: 0, length: 3))).encoded())
        }
        receiver.after { $0.ready() }
        // Before the daemon reports that the bytes are written.
        #expect(receiver.after { $0.received(TransferFrame.error(changed).encoded()) }.isEmpty)
        let actions = receiver.after { $0.bytesReceived() }
        guard let failure = ending(actions) else {
            Issue.record("it goes on: \(actions)")
            return
        }
        #expect(failure.reason == .changed && failure.isReported)
    }

    @Test
    func `a failure within the bytes of a file is not sent among them`() throws {
        var sender = SenderMachine(header: try fileHeader(3))
        sender.after { $0.start() }
        sender.after { $0.received(TransferFrame.have(.nothing).encoded()) }
        sender.after { $0.received(TransferFrame.go.encoded()) }
        let failure = TransferFailure(.cancelled, "called off")
        #expect(sender.after { $0.fail(failure) } == [.fail(failure)])
    }

    @Test
    func `a stream that fails ends its chunks, then sends the reason`() throws {
        let header = try #require(TransferHeader(kind: .stream))
        var sender = SenderMachine(header: header)
        sender.after { $0.start() }
        sender.after { $0.received(TransferFrame.have(.nothing).encoded() + TransferFrame.go.encoded()) }
        let failure = TransferFailure(.changed, "x")
        let chunk = sender.after { $0.content([1]) }
        let end = sender.after { $0.fail(failure) }
        var receiver = ReceiverMachine()
        receiver.after { $0.received(TransferFrame.header(header).encoded()) }
        receiver.after { $0.opened() }
        var actions = try receiver.after {
            $0.received(
                TransferFrame.start(try #require(TransferStart(offset: 0, length: nil))).encoded())
        }
        for case .send(let bytes) in chunk + end { actions += receiver.after { $0.received(bytes) } }
        #expect(actions.contains(.write([1])))
        guard let reported = ending(actions) else {
            Issue.record("it goes on: \(actions)")
            return
        }
        #expect(reported.reason == .changed && reported.isReported)
    }

    @Test(arguments: 0..<6)
    func `a stream that ends too early is gone, whatever was awaited`(step: Int) throws {
        let start = try #require(TransferStart(offset: 0, length: 1))
        var receiver = ReceiverMachine()
        if step > 0 { try receiver.after { $0.received(TransferFrame.header(try fileHeader(1)).encoded()) } }
        if step > 1 { receiver.after { $0.opened() } }
        if step > 2 { receiver.after { $0.received(TransferFrame.start(start).encoded()) } }
        if step > 3 { receiver.after { $0.ready() } }
        if step > 4 { receiver.after { $0.bytesReceived() } }
        let failed = receiver.after { $0.endReceived() }
        #expect(failed.count == 1)
        #expect(ending(failed)?.reason == .gone)
        #expect(receiver.isEnded)

        var sender = SenderMachine(header: try fileHeader(1))
        sender.after { $0.start() }
        if step > 0 { sender.after { $0.received(TransferFrame.have(.nothing).encoded()) } }
        if step > 1 { sender.after { $0.received(TransferFrame.go.encoded()) } }
        if step > 2 { sender.after { $0.bytesSent() } }
        if step > 3 { sender.after { $0.confirmed() } }
        #expect(ending(sender.after { $0.endReceived() })?.reason == .gone)
    }

    @Test(arguments: [0, 1, 2])
    func `nothing but the end follows a failed write, whatever arrived in the same read`(written: Int) throws {
        let header = try #require(TransferHeader(kind: .stream, name: "a"))
        var receiver = ReceiverMachine()
        receiver.after { $0.received(TransferFrame.header(header).encoded()) }
        receiver.after { $0.opened() }
        let start = try #require(TransferStart(offset: 0, length: nil))
        receiver.after { $0.received(TransferFrame.start(start).encoded()) }
        let chunks: [UInt8] = [0, 0, 0, 1, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1, 3, 0, 0, 0, 0]
        receiver.received(chunks + TransferFrame.complete(.none).encoded())
        for byte in 1...UInt8(written + 1) { #expect(receiver.next() == .write([byte])) }
        let full = TransferFailure(.full, "no room")
        let last = receiver.after { $0.fail(full) }
        #expect(last == [.send(TransferFrame.error(full).encoded()), .end, .fail(full)])
        #expect(receiver.after { $0.abort(.init(.gone, "cut")) }.isEmpty)
    }

    @Test
    func `the other side may end its direction once it has reported that everything is sent`() throws {
        var receiver = ReceiverMachine()
        try receiver.after { $0.received(TransferFrame.header(try fileHeader(1)).encoded()) }
        receiver.after { $0.opened() }
        try receiver.after {
            $0.received(TransferFrame.start(try #require(TransferStart(offset: 0, length: 1))).encoded())
        }
        receiver.after { $0.ready() }
        receiver.after { $0.received(TransferFrame.complete(.none).encoded()) }
        #expect(receiver.after { $0.bytesReceived() } == [.finish])
        #expect(receiver.after { $0.endReceived() }.isEmpty)
        #expect(receiver.after { $0.finished() } == [.send(TransferFrame.done.encoded()), .end, .succeed])
    }

    @Test
    func `bytes after the last message are ignored, even before the daemon reports that the bytes are written`()
        throws
    {
        var receiver = ReceiverMachine()
        try receiver.after { $0.received(TransferFrame.header(try fileHeader(1)).encoded()) }
        receiver.after { $0.opened() }
        try receiver.after {
            $0.received(TransferFrame.start(try #require(TransferStart(offset: 0, length: 1))).encoded())
        }
        receiver.after { $0.ready() }
        let behind = [UInt8](repeating: 0xff, count: 70_000)
        #expect(receiver.after { $0.received(TransferFrame.complete(.none).encoded() + behind) }.isEmpty)
        #expect(receiver.after { $0.received(behind) }.isEmpty)
        #expect(receiver.after { $0.bytesReceived() } == [.finish])
        #expect(receiver.after { $0.received(behind) }.isEmpty)
    }
}
