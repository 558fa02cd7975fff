import LoopIO
import Synchronization
import Testing

@testable import HandoffStreams

/// Tests which thread a stream gets.
@Suite(.timeLimit(.minutes(1))) struct StreamLoopsTests {
    private let loops = StreamLoops(processors: 1)

    /// Runs work on the thread of a loop, and returns when it is done.
    private func run(on loop: StreamLoop, _ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            loop.perform {
                work()
                continuation.resume()
            }
        }
    }

    @Test func `a thread is used again unless it has moved bulk data`() async throws {
        defer { loops.stop() }
        let first = try loops.acquire()
        #expect(try loops.acquire() === first)
        loops.release(first)
        loops.release(first)
        #expect(try loops.acquire() === first)
        await run(on: first) { first.becomeBulk() }
        #expect(first.isBulk)
        #expect(try loops.acquire() === first)
        loops.release(first)
        #expect(try loops.acquire() === first)
        loops.release(first)
        loops.release(first)
        let second = try loops.acquire()
        #expect(second !== first)
        #expect(!second.isBulk)
    }
}
