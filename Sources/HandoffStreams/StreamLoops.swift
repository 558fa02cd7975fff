package import LoopIO

/// The threads of streams: one per processor, up to a limit, started on demand. To be used by one
/// thread.
package final class StreamLoops {
    /// The maximum number of threads. More do not help, because the memory bus is saturated
    /// earlier.
    private static let maxLoops = 8

    private var loops: [(loop: StreamLoop, streams: Int)] = []
    private let maximum: Int

    /// Creates the value without threads.
    /// - Parameter processors: the number of processors.
    package init(processors: Int = MachineInfo.processors) {
        maximum = max(1, min(Self.maxLoops, processors))
    }

    /// Returns the loop with the fewest streams for one more stream. Call `release` when the stream
    /// has ended.
    package func acquire() throws(Errno) -> StreamLoop {
        if let idle = loops.indices.min(by: { loops[$0].streams < loops[$1].streams }),
            loops[idle].streams == 0 || loops.count == maximum
        {
            loops[idle].streams += 1
            return loops[idle].loop
        }
        let loop = try StreamLoop(name: "stream \(loops.count + 1)")
        loops.append((loop, 1))
        return loop
    }

    /// Removes an ended stream from a loop's count.
    package func release(_ loop: StreamLoop) {
        guard let index = loops.firstIndex(where: { $0.loop === loop }) else { return }
        loops[index].streams = max(0, loops[index].streams - 1)
        // The next stream may be a terminal, which needs a thread of normal priority.
        if loops[index].streams == 0, loop.isBulk { loops.remove(at: index).loop.retire() }
    }

    /// Stops all threads. Open streams end without sending a reset.
    package func stop() {
        for entry in loops { entry.loop.stop() }
        loops = []
    }
}
