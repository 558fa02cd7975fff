internal import Dispatch
package import LoopIO
internal import Synchronization

/// Runs a loop in a test until the test ends it. Fails the test if it hangs.
package final class LoopTest {
    /// The test did not end.
    package struct Hangs: Error {}

    /// Seconds of real time, far more than any test needs. Only a test that hangs reaches it.
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
    /// - Throws: `Hangs` if it is not called in time.
    package func run() throws {
        let hangs = Atomic(false)
        // Uses a separate clock, because the loop's clock may not advance.
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
