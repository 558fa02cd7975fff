internal import Dispatch
package import LoopIO
internal import Synchronization

/// Runs a loop inside a test until it is told to end, and fails the test when that never happens.
package final class LoopTest {
    /// The test did not end by itself.
    package struct Hangs: Error {}

    /// Seconds of real time, far more than any of these tests needs; only a test that hangs gets there.
    private static let timeout = 120

    package let loop: EventLoop
    /// A folder for the sockets and files of the test.
    package let folder: ScratchFolder

    /// - Parameter clock: a clock that the test moves.
    package init(clock: ManualClock? = nil) throws {
        loop = try EventLoop(clock: clock)
        folder = try ScratchFolder()
    }

    /// Runs the loop until `end` is called.
    /// - Throws: `Hangs` when it is not.
    package func run() throws {
        let hangs = Atomic(false)
        // By a clock of its own: the loop's may stand.
        let guardian = DispatchWorkItem { [loop] in
            hangs.store(true, ordering: .relaxed)
            loop.stop()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.timeout), execute: guardian)
        defer { guardian.cancel() }
        try loop.run()
        if hangs.load(ordering: .relaxed) { throw Hangs() }
    }

    /// Ends `run`.
    package func end() { loop.stop() }
}
