import CLinux
import Glibc
import HandoffTestSupport
import LoopIO
import Testing

/// Descriptors passed over unix sockets, and sockets that are detached from their stream.
@Suite(.timeLimit(.minutes(5))) struct PassingTests {
    private let loop: EventLoop
    private let ends: Ends

    init() throws {
        loop = try EventLoop()
        ends = try Ends.sockets()
    }

    /// The descriptor numbers and bytes that a stream delivered, in order.
    private final class Record {
        var events: [String] = []
        var files: [PassedFile] = []

        func attach(to stream: ByteStream) {
            stream.onPassed = { [unowned self] passed in
                events.append("passed \(passed.count)")
                files += passed
            }
            stream.onRead = { [unowned self] in events.append("read \($0)") }
            stream.onEnd = { [unowned self] in events.append("end") }
        }
    }

    /// Sends bytes and any number of descriptors in one message, like an arbitrary process could.
    private func send(_ bytes: [UInt8], passing numbers: [Int32]) {
        // The header of a control message (cmsghdr): length, level SOL_SOCKET, type SCM_RIGHTS.
        var control = [UInt8]()
        withUnsafeBytes(of: 16 + numbers.count * 4) { control += $0 }
        withUnsafeBytes(of: SOL_SOCKET) { control += $0 }
        withUnsafeBytes(of: Int32(1)) { control += $0 }
        numbers.withUnsafeBytes { control += $0 }
        while !control.count.isMultiple(of: 8) { control.append(0) }
        var bytes = bytes
        let sent = bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(ends.second, &message, 0)
                }
            }
        }
        #expect(sent == bytes.count)
    }

    private func isSameFile(_ one: Int32?, _ other: Int32) -> Bool {
        var first = stat()
        var second = stat()
        guard let one, fstat(one, &first) == 0, fstat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    @Test func `a descriptor arrives before the bytes it was sent with`() throws {
        let receiver = try ByteStream(ends.takeFirst(), on: loop)
        let sender = try ByteStream(ends.takeSecond(), on: loop)
        let record = Record()
        record.attach(to: receiver)
        let pipe = try Descriptor.pipe()
        sender.write([1])
        try loop.runTurns(3)
        try sender.write([2, 3], passing: pipe.second)
        sender.write([4])
        sender.shutdownWrite()
        try loop.runTurns(5)
        #expect(record.events == ["read [1]", "passed 1", "read [2, 3]", "read [4]", "end"])
        let passed = try #require(record.files.first)
        #expect(isSameFile(passed.raw, pipe.second.raw))
        #expect(passed.raw != pipe.second.raw)
        let flags = fcntl(try #require(passed.raw), F_GETFD)
        #expect(flags & FD_CLOEXEC != 0)
        receiver.close()
        sender.close()
    }

    @Test(arguments: [2, 253])
    func `all descriptors of a message arrive`(_ count: Int) throws {
        let receiver = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: receiver)
        let file = try Descriptor.pipe()
        send([1], passing: [Int32](repeating: file.first.raw, count: count))
        try loop.runTurns(3)
        #expect(record.events == ["passed \(count)", "read [1]"])
        #expect(record.files.allSatisfy { isSameFile($0.raw, file.first.raw) })
        receiver.close()
    }

    @Test func `a stream without a handler for descriptors delivers the bytes and leaves nothing open`() throws {
        let receiver = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: receiver)
        receiver.onPassed = nil
        let pipe = try Ends.pipe()
        send([1], passing: [pipe.second])
        pipe.closeSecond()
        try loop.runTurns(3)
        #expect(record.events == ["read [1]"])
        // The write end is closed everywhere.
        #expect(readNow(pipe.first) == nil)
        receiver.close()
    }

    @Test func `a descriptor that is not taken is closed`() throws {
        let receiver = try ByteStream(ends.takeFirst(), on: loop)
        receiver.onPassed = { _ in }
        receiver.onRead = { _ in }
        let pipe = try Ends.pipe()
        send([1], passing: [pipe.second, pipe.second])
        pipe.closeSecond()
        let reader = try ByteStream(pipe.takeFirst(), on: loop)
        reader.onRead = { _ in }
        reader.onEnd = { [loop] in loop.stop() }
        try loop.runUntilStopped()
        receiver.close()
        reader.close()
    }

    @Test func `a taken descriptor belongs to the caller`() throws {
        let pair = try Descriptor.socketPair()
        let number = pair.first.raw
        let file = PassedFile(consume pair.first)
        #expect(file.raw == number)
        guard let taken = file.take() else { throw Errno.invalidArgument }
        #expect(taken.raw == number)
        #expect(file.raw == nil)
        if case .some = file.take() { Issue.record("taken twice") }
        withExtendedLifetime(consume pair.second) {}
    }

    @Test func `a handler that closes the stream gets no bytes`() throws {
        let receiver = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: receiver)
        receiver.onPassed = { [weak receiver] _ in receiver?.close() }
        let file = try Descriptor.pipe()
        send([1], passing: [file.first.raw])
        try loop.runTurns(3)
        #expect(record.events == [])
        #expect(!receiver.isOpen)
    }

    @Test func `descriptors above the limit of open files are all closed`() async {
        // In a separate process, because the limit is process-wide.
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let ends = try Ends.sockets()
            let receiver = try ByteStream(ends.takeFirst(), on: loop)
            let sender = try ByteStream(ends.takeSecond(), on: loop)
            var counts: [Int] = []
            receiver.onPassed = { counts.append($0.count) }
            receiver.onRead = { _ in loop.stop() }
            let pair = try Descriptor.pipe()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)
            // The lowest free number is the one that the next descriptor gets.
            let next = try pair.first.duplicate().release()
            close(next)
            limit.rlim_cur = rlim_t(next)
            #expect(setrlimit(__rlimit_resource_t(7), &limit) == 0)
            try sender.write([1], passing: pair.first)
            try loop.run()
            #expect(counts == [0])
            exit(counts == [0] ? 0 : 1)
        }
    }

    @Test func `passing fails where it cannot be done and sends nothing`() throws {
        let sender = try ByteStream(ends.takeSecond(), on: loop)
        let pair = try Descriptor.pipe()
        #expect(throws: Errno.invalidArgument) { try sender.write([], passing: pair.first) }
        sender.write(pattern(1_000_000))
        #expect(sender.pendingWriteBytes > 0)
        let waiting = sender.pendingWriteBytes
        #expect(throws: Errno.wouldBlock) { try sender.write([1], passing: pair.first) }
        #expect(sender.pendingWriteBytes == waiting)
        sender.close()
        #expect(throws: Errno.invalidArgument) { try sender.write([1], passing: pair.first) }
    }

    @Test func `bytes that the kernel does not accept immediately follow the descriptor`() throws {
        let receiver = try ByteStream(ends.takeFirst(), on: loop)
        let sender = try ByteStream(ends.takeSecond(), on: loop)
        let pair = try Descriptor.pipe()
        let bytes = pattern(2_000_000)
        var received: [UInt8] = []
        var passed = 0
        receiver.onPassed = { passed += $0.count }
        receiver.onRead = { received += $0 }
        receiver.onEnd = { [loop] in loop.stop() }
        #expect(try sender.write(bytes, passing: pair.first) == false)
        sender.shutdownWrite()
        try loop.runUntilStopped()
        #expect(passed == 1)
        #expect(received == bytes)
        receiver.close()
        sender.close()
    }

    @Test func `a detached socket continues on another loop`() throws {
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        var first: [UInt8] = []
        var given: Descriptor?
        let number = stream.rawDescriptor
        stream.onRead = { [loop] in
            first += $0
            given = stream.detach()
            loop.stop()
        }
        stream.onEnd = { Issue.record("ended") }
        writeNow([1, 2], to: ends.second)
        try loop.runUntilStopped()
        #expect(first == [1, 2])
        #expect(!stream.isOpen)
        guard let descriptor = given.take() else { throw Errno.invalidArgument }
        #expect(descriptor.raw == number)
        writeNow([3], to: ends.second)
        ends.closeSecond()
        try loop.runTurns(3)
        let other = try EventLoop()
        let moved = try ByteStream(descriptor, on: other)
        var second: [UInt8] = []
        moved.onRead = { second += $0 }
        moved.onEnd = { other.stop() }
        try other.runUntilStopped()
        #expect(second == [3])
        moved.close()
    }

    @Test func `a stream with queued bytes is not detached`() throws {
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        stream.write(pattern(1_000_000))
        #expect(stream.pendingWriteBytes > 0)
        #expect(!hasDetached(stream))
        #expect(stream.isOpen)
        stream.close()
        #expect(!hasDetached(stream))
    }

    private func hasDetached(_ stream: ByteStream) -> Bool {
        switch stream.detach() {
        case .some: true
        case .none: false
        }
    }

    @Test func `descriptors whose closing blocks delay only their own source`() async {
        // In a separate process, which otherwise blocks when it ends.
        await #expect(processExitsWith: .success) {
            let (greedy, modest) = (DescriptorSource("greedy"), DescriptorSource("modest"))
            try fill(greedy)
            #expect(!DescriptorCloser.isAccepting(from: greedy))
            // A descriptor of another source is closed in the meantime: its peer sees the end.
            #expect(DescriptorCloser.isAccepting(from: modest))
            let pair = try Descriptor.pipe()
            let reader = consume pair.first
            DescriptorCloser.close(consume pair.second, from: modest)
            var end = pollfd(fd: reader.raw, events: 0, revents: 0)
            #expect(poll(&end, 1, -1) == 1)
            exit(end.revents == Int16(POLLHUP) ? 0 : 1)
        }
    }

    @Test func `a peer that passes too many descriptors is reported and no longer read`() async {
        await #expect(processExitsWith: .success) {
            let greedy = DescriptorSource("greedy")
            try fill(greedy)
            let loop = try EventLoop()
            let ends = try Ends.sockets()
            let receiver = try ByteStream(ends.takeFirst(), on: loop)
            let sender = try ByteStream(ends.takeSecond(), on: loop)
            var answer: [UInt8] = []
            var isTold = 0
            receiver.passer = greedy
            receiver.onPassed = { _ in Issue.record("taken in") }
            receiver.onError = { _ in Issue.record("failed") }
            receiver.onRead = { _ in Issue.record("read") }
            receiver.onTooManyPassed = {
                isTold += 1
                receiver.write([7])
                receiver.finish()
            }
            sender.onRead = { answer += $0 }
            sender.onEnd = { loop.stop() }
            sender.onError = { _ in loop.stop() }
            try passLingeringSocket(over: sender)
            try loop.run()
            #expect(answer == [7])
            exit(answer == [7] && isTold == 1 ? 0 : 1)
        }
    }

    @Test func `a passed socket that lingers does not block other work`() async {
        // In a separate process, because the closing thread is shared by the process and blocks
        // here.
        await #expect(processExitsWith: .success) {
            let (read, failure) = try passLingeringSockets()
            #expect(read == [2])
            #expect(failure == .tooManyReferences)
            exit(read == [2] && failure == .tooManyReferences ? 0 : 1)
        }
    }
}

/// Closes a stream that contains a lingering socket. Then sends a byte and another such socket to a
/// stream of a process that accepts no more descriptors. Returns what that stream read, and its
/// error.
private func passLingeringSockets() throws -> (read: [UInt8], failure: Errno?) {
    let loop = try EventLoop()
    let ends = try Ends.sockets()
    let receiver = try ByteStream(ends.takeFirst(), on: loop)
    let sender = try ByteStream(ends.takeSecond(), on: loop)
    try passLingeringSocket(over: sender)
    // The bytes were not read: closing on this thread would block for ten minutes.
    receiver.close()
    #expect(DescriptorCloser.count(from: .unnamed) == 1)
    // The maximum number of accepted descriptors waits behind it.
    try fill(.unnamed)
    let again = try Ends.sockets()
    let second = try ByteStream(again.takeFirst(), on: loop)
    let other = try ByteStream(again.takeSecond(), on: loop)
    var read: [UInt8] = []
    var failure: Errno?
    second.onRead = { read += $0 }
    second.onPassed = { _ in Issue.record("taken in") }
    second.onError = { failure = $0 }
    // Bytes still arrive. With a descriptor the connection fails before the kernel could close the
    // descriptor here.
    other.write([2])
    try loop.runTurns(3)
    try passLingeringSocket(over: other)
    try loop.runTurns(3)
    return (read, failure)
}

/// Passes blocking descriptors to the closer until it accepts no more of this source.
private func fill(_ source: DescriptorSource) throws {
    for _ in 0..<2 { DescriptorCloser.close(Descriptor(owning: try lingeringSocket()), from: source) }
    while DescriptorCloser.isAccepting(from: source) {
        let pair = try Descriptor.pipe()
        DescriptorCloser.close(consume pair.first, from: source)
    }
}

/// Passes a socket, and keeps no copy.
private func passLingeringSocket(over stream: ByteStream) throws {
    let passed = Descriptor(owning: try lingeringSocket())
    try stream.write([1], passing: passed)
}

/// Returns a TCP socket with bytes that are never received. Closing it blocks for ten minutes
/// (SO_LINGER).
private func lingeringSocket() throws -> Int32 {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try withUnsafeMutablePointer(to: &address) { address in
        try address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            guard bind(listener, address, size) == 0, listen(listener, 1) == 0,
                getsockname(listener, address, &size) == 0, connect(raw, address, size) == 0
            else { throw Errno.current }
        }
    }
    let bytes = [UInt8](repeating: 0, count: 1 << 20)
    while send(raw, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    var lingering = linger(l_onoff: 1, l_linger: 600)
    guard setsockopt(raw, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout.size(ofValue: lingering))) == 0
    else { throw Errno.current }
    return raw
}
