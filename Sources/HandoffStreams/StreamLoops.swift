package import LoopIO

/// The threads of streams: as many as the machine has processors, started with the first streams. Used by one thread.
package final class StreamLoops {
    /// More threads than this do not pay: the memory bus is the limit before.
    private static let maxLoops = 8

    private var loops: [(loop: StreamLoop, streams: Int)] = []
    private let maximum: Int

    /// No threads yet.
    /// - Parameter processors: how many processors there are.
    package init(processors: Int = MachineInfo.processors) {
        maximum = max(1, min(Self.maxLoops, processors))
    }

    /// The loop with the fewest streams, for one more stream; `release` when that has ended.
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

    /// A stream of this loop has ended.
    package func release(_ loop: StreamLoop) {
        guard let index = loops.firstIndex(where: { $0.loop === loop }) else { return }
        loops[index].streams = max(0, loops[index].streams - 1)
    }

    /// Ends all threads; streams that are open end without a word.
    package func stop() {
        for entry in loops { entry.loop.stop() }
        loops = []
    }
}
