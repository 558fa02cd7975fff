import Glibc

/// Closes descriptors that other processes have passed to this process, on separate threads.
///
/// close(2) of such a descriptor may block for as long as its creator wants: it can wait for the
/// server of a network or FUSE file system, or for the peer of a lingering socket. Threads exist
/// only while descriptors are waiting to be closed. Each source gets at most two of them, so that a
/// blocking close delays only descriptors of the same source. The closer is shared by the process,
/// because a descriptor can lose its last owner anywhere.
package enum DescriptorCloser {
    /// The number of waiting descriptors of a source from which on no more of it are accepted. The
    /// next message may still add up to 253.
    package static let limitPerSource = 64
    /// The same limit for all sources together. Each waiting descriptor counts towards the files
    /// that this process may have open.
    static let limit = 2048
    private static let threadsOfSource = 2
    private static let threadLimit = 32

    private struct Queue {
        var waiting: [Int32] = []
        /// The number of descriptors that are being closed or waiting.
        var count = 0
        var threads = 0
    }

    private struct State {
        var queues: [DescriptorSource: Queue] = [:]
        var count = 0
        var threads = 0

        /// Reserves a thread for a source whose threads cannot handle its waiting descriptors.
        mutating func takeThread(for source: DescriptorSource) -> Bool {
            guard let queue = queues[source], !queue.waiting.isEmpty, queue.threads < threadsOfSource,
                threads < threadLimit
            else { return false }
            queues[source]?.threads += 1
            threads += 1
            return true
        }

        mutating func releaseThread(of source: DescriptorSource) {
            queues[source]?.threads -= 1
            threads -= 1
            if let queue = queues[source], queue.count == 0, queue.threads == 0 { queues[source] = nil }
        }
    }

    private static let state = Locked(State())

    /// Returns true if more descriptors of the source may be accepted. May be called on any thread.
    package static func isAccepting(from source: DescriptorSource) -> Bool {
        state.withLock { $0.count == 0 || $0.count < limit && $0.queues[source]?.count ?? 0 < limitPerSource }
    }

    /// Returns the number of descriptors of a source that are not closed yet.
    package static func count(from source: DescriptorSource) -> Int {
        state.withLock { $0.queues[source]?.count ?? 0 }
    }

    /// Closes a descriptor later, and never blocks. May be called on any thread. Works above the
    /// limit too: code that accepts descriptors must call `isAccepting` first.
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
            // No memory for a thread. The descriptors wait for the next call.
            state.withLock { $0.releaseThread(of: source) }
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

    /// Returns the next descriptor for a thread of `source` to close. If the source has no more,
    /// the thread moves to a source with too few threads.
    private static func next(after source: DescriptorSource) -> (Int32, DescriptorSource)? {
        state.withLock { state in
            if let number = state.queues[source]?.waiting.first {
                state.queues[source]?.waiting.removeFirst()
                return (number, source)
            }
            state.releaseThread(of: source)
            for other in state.queues.keys where state.takeThread(for: other) {
                guard let number = state.queues[other]?.waiting.first else { return nil }
                state.queues[other]?.waiting.removeFirst()
                return (number, other)
            }
            return nil
        }
    }
}
