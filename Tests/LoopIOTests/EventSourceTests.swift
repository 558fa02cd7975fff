import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventSourceTests {
    @Test(arguments: [false, true])
    func `the handler is called as long as bytes are available`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.sockets()
        var calls = 0
        writeNow([1, 2, 3], to: pair.second)
        let raw = pair.first
        let source = try loop.watch(raw, .readable) { events in
            #expect(events == .readable)
            calls += 1
            var byte: UInt8 = 0
            read(raw, &byte, 1)
        }
        try loop.runTurns(20)
        #expect(calls == 3)
        source.cancel()
    }

    @Test(arguments: [false, true])
    func `a cancelled source gets no pending event`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let first = try Ends.sockets()
        let second = try Ends.sockets()
        var sources: [EventSource] = []
        var calls = 0
        for raw in [first.first, second.first] {
            // The handler that is called first cancels both, while the event of the other is
            // pending.
            sources.append(
                try loop.watch(raw, .readable) { _ in
                    calls += 1
                    for source in sources { source.cancel() }
                })
        }
        writeNow([1], to: first.second)
        writeNow([1], to: second.second)
        try loop.runTurns(10)
        #expect(calls == 1)
    }

    @Test(arguments: [false, true])
    func `no event is reported for a reused number`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let old = try Ends.sockets()
        let pair = try Ends.sockets()
        // A number that parallel tests do not get: the kernel assigns the lowest free one.
        let number = fcntl(old.first, F_DUPFD_CLOEXEC, 900)
        try #require(number >= 900)
        var oldCalls = 0
        var newCalls = 0
        let source = try loop.watch(number, .readable) { _ in oldCalls += 1 }
        writeNow([1], to: old.second)
        source.cancel()
        close(number)
        let successorNumber = Descriptor(owning: dup2(pair.first, number))
        #expect(successorNumber.raw == number)
        writeNow([1], to: pair.second)
        let successor = try loop.watch(number, .readable) { _ in newCalls += 1 }
        try loop.runTurns(10)
        #expect(oldCalls == 0)
        #expect(newCalls > 0)
        successor.cancel()
    }

    @Test(arguments: [false, true])
    func `a released source is cancelled`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.sockets()
        writeNow([1], to: pair.second)
        var calls = 0
        do {
            let source = try loop.watch(pair.first, .readable) { _ in calls += 1 }
            source.setEvents(.readable)
        }
        try loop.runTurns(10)
        #expect(calls == 0)
        // It can be watched again: no watch was left.
        try loop.watch(pair.first, .readable) { _ in }.cancel()
    }

    @Test(arguments: [false, true])
    func `a handler may release its own source`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.sockets()
        writeNow([1], to: pair.second)
        var calls = 0
        var source: EventSource?
        source = try loop.watch(pair.first, .readable) { _ in
            calls += 1
            source = nil
        }
        try loop.runTurns(10)
        #expect(calls == 1)
        #expect(source == nil)
    }

    @Test(arguments: [false, true])
    func `a hang-up is reported to a pipe's reader even if not requested`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.pipe()
        var seen: IOEvents = []
        let source = try loop.watch(pair.first, .readable) { [loop] events in
            seen = events
            loop.stop()
        }
        pair.closeSecond()
        try loop.runUntilStopped()
        #expect(seen.contains(.hangUp))
        source.cancel()
    }

    @Test(arguments: [false, true])
    func `an error is reported to a pipe's writer even if not requested`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.pipe()
        var seen: IOEvents = []
        // Fill the pipe, so that it is not writable.
        let block = [UInt8](repeating: 0, count: 4096)
        while write(pair.second, block, block.count) > 0 {}
        let source = try loop.watch(pair.second, .writable) { [loop] events in
            seen = events
            loop.stop()
        }
        pair.closeFirst()
        try loop.runUntilStopped()
        #expect(seen.contains(.error))
        source.cancel()
    }

    @Test(arguments: [false, true])
    func `without requested events not even hang up calls the handler`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.sockets()
        var calls = 0
        let source = try loop.watch(pair.first, .readable) { _ in calls += 1 }
        source.setEvents([])
        pair.closeSecond()
        try loop.runTurns(20)
        #expect(calls == 0)
        source.setEvents(.readable)
        try loop.runTurns(5)
        #expect(calls > 0)
        source.cancel()
    }

    @Test(arguments: [false, true])
    func `a descriptor cannot be watched twice`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.sockets()
        let source = try loop.watch(pair.first, .readable) { _ in }
        let raw = pair.first
        #expect(throws: Errno.exists) {
            let _: EventSource = try loop.watch(raw, .readable) { (_: IOEvents) in }
        }
        source.cancel()
    }

    @Test(arguments: [false, true])
    func `a ready descriptor does not starve another`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let noisy = try Ends.sockets()
        let quiet = try Ends.sockets()
        writeNow([1], to: noisy.second)
        writeNow([1], to: quiet.second)
        var noise = 0
        let first = try loop.watch(noisy.first, .readable) { [loop] _ in
            noise += 1
            if noise == 1_000 { loop.stop() }
        }
        let second = try loop.watch(quiet.first, .readable) { [loop] _ in loop.stop() }
        try loop.runUntilStopped()
        #expect(noise < 10)
        first.cancel()
        second.cancel()
    }
}
