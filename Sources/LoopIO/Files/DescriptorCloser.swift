import Glibc

/// Closes descriptors that strangers have passed to us, on threads of its own.
///
/// close(2) of such a one can wait for as long as its maker likes: for the server of a network or FUSE file system, or for
/// the other end of a socket that lingers. The threads are there only while something is to be closed; each source has two of
/// them at most, so that what hangs is waited for by descriptors of the same source alone. One for the process, since a
/// descriptor can lose its last owner anywhere.
package enum DescriptorCloser {
    /// From so many waiting descriptors of a source on no more of it are taken in. A stuffed message brings 253.
    package static let limitOfSource = 64
    /// The same for all sources: each costs one of the files that this process may have open.
    package static let limit = 2048
    private static let threadsOfSource = 2
    private static let threadLimit = 32

    private struct Queue {
        var waiting: [Int32] = []
        /// Those being closed and those that wait.
        var count = 0
        var threads = 0
    }

    private struct State {
        var queues: [DescriptorSource: Queue] = [:]
        var count = 0
        var threads = 0

        /// Takes a thread for a source that has too few for what waits.
        mutating func takeThread(for source: DescriptorSource) -> Bool {
            guard let queue = queues[source], !queue.waiting.isEmpty, queue.threads < threadsOfSource,
                threads < threadLimit
            else { return false }
            queues[source]?.threads += 1
            threads += 1
            return true
        }

        mutating func giveBackThread(of source: DescriptorSource) {
            queues[source]?.threads -= 1
            threads -= 1
            if let queue = queues[source], queue.count == 0, queue.threads == 0 { queues[source] = nil }
        }
    }

    private static let state = Locked(State())

    /// Whether so few wait that more of a source may be taken in. Any thread may ask.
    package static func isAccepting(from source: DescriptorSource) -> Bool {
        state.withLock { $0.count < limit && $0.queues[source]?.count ?? 0 < limitOfSource }
    }

    /// How many of a source are not closed yet.
    package static func count(from source: DescriptorSource) -> Int {
        state.withLock { $0.queues[source]?.count ?? 0 }
    }

    /// Closes a descriptor some time later and never waits. Any thread may call it. Above the limit too: whoever takes
    /// descriptors in asks `isAccepting` before.
    package static func close(_ descriptor: consuming Descriptor, from source: DescriptorSource = .unnamed) {
        let number = descriptor.release()
        let starts = state.withLock { state in
            state.queues[source, default: Queue()].waiting.append(number)
            state.queues[source]?.count += 1
            state.count += 1
            return state.takeThread(for: source)
        }
        if starts { start(source) }
    }

    private static func start(_ source: DescriptorSource) {
        do throws(Errno) {
            _ = try OwnedThread(name: "closer") { run(source) }
        } catch {
            // No memory for a thread: they wait for the next call.
            state.withLock { $0.giveBackThread(of: source) }
        }
    }

    private static func run(_ first: DescriptorSource) {
        var source = first
        while let (number, next) = next(after: source) {
            source = next
            Descriptor(owning: number).close()
            state.withLock { state in
                state.queues[source]?.count -= 1
                state.count -= 1
            }
        }
    }

    /// What the thread of a source closes next: when there is no more of that, something of a source that has no thread yet.
    private static func next(after source: DescriptorSource) -> (Int32, DescriptorSource)? {
        state.withLock { state in
            if let number = state.queues[source]?.waiting.first {
                state.queues[source]?.waiting.removeFirst()
                return (number, source)
            }
            state.giveBackThread(of: source)
            for other in state.queues.keys where state.takeThread(for: other) {
                guard let number = state.queues[other]?.waiting.first else { return nil }
                state.queues[other]?.waiting.removeFirst()
                return (number, other)
            }
            return nil
        }
    }
}
