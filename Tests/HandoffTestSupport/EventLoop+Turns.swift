package import LoopIO

extension EventLoop {
    /// Runs the loop on this thread for a number of turns, each of which polls the descriptors
    /// once. For tests that something does not happen: no clock is involved.
    package func runTurns(_ count: Int) throws {
        let turns = Turns(left: count, loop: self)
        turns.next()
        try run()
    }
}

/// Unchecked Sendable: only the loop's thread uses it.
private final class Turns: @unchecked Sendable {
    private var left: Int
    private unowned let loop: EventLoop

    init(left: Int, loop: EventLoop) {
        self.left = left
        self.loop = loop
    }

    func next() {
        left -= 1
        if left < 0 { return loop.stop() }
        loop.perform { self.next() }
    }
}
