package import LoopIO

/// Runs a loop inside a test until it is told to end, and fails the test when that never happens.
package final class LoopTest {
    /// The test did not end by itself.
    package struct Hangs: Error {}

    /// Far more than any of these tests needs; only a test that hangs gets there.
    private static let timeout = Duration.seconds(120)

    package let loop: EventLoop
    /// A folder for the sockets and files of the test.
    package let folder: ScratchFolder

    /// - Parameter clock: a clock that the test moves; then nothing ends a test that hangs, but its own time limit.
    package init(clock: ManualClock? = nil) throws {
        loop = try EventLoop(clock: clock)
        folder = try ScratchFolder()
    }

    /// Runs the loop until `end` is called.
    /// - Throws: `Hangs` when it is not.
    package func run() throws {
        var hangs = false
        let guardian = loop.timer(after: Self.timeout) { [loop] in
            hangs = true
            loop.stop()
        }
        try loop.run()
        withExtendedLifetime(guardian) {}
        if hangs { throw Hangs() }
    }

    /// Ends `run`.
    package func end() { loop.stop() }
}
