package import LoopIO
import Synchronization

/// A thread that moves the bytes of streams, and the memory that they share. `loop`, `perform` and
/// `stop` may be used by any thread, everything else only on the loop's thread.
package final class StreamLoop: Sendable {
    /// The streams of the loop.
    private final class Residents {
        var connections: [ObjectIdentifier: StreamConnection] = [:]
        /// Streams that have moved bytes recently.
        var warm: [ObjectIdentifier: StreamConnection] = [:]
        var cooling: LoopTimer?
        /// True once no more streams are added.
        var isRetired = false
    }

    /// The maximum plaintext processed in one step. Twice as much as 256 KiB takes a tenth less
    /// time per GiB.
    static let maxChunk = 512 * 1024
    /// The same for a stream whose app shares memory.
    private static let maxSharedChunk = 512 * 1024
    /// The maximum memory of all streams of a loop in each direction, give or take a chunk each.
    private static let budget = 64 * 1024 * 1024
    private static let minChunk = 16 * 1024
    /// The time for which memory for bulk data is kept while nothing moves.
    private static let coolingTime = Duration.seconds(1)

    /// The event loop of the streams.
    let loop: EventLoop
    private let thread: LoopThread
    /// A buffer for plaintext, with space for a word before the data. Its content is valid only
    /// within a step.
    ///
    /// Unsafe only for the compiler: the address never changes, and the content is accessed only on
    /// the loop's thread.
    nonisolated(unsafe) let scratch: UnsafeMutableRawBufferPointer
    /// True once the thread has a lower priority, permanently: raising it needs a privilege.
    private let lowered = Atomic<Bool>(false)
    private let bound: LoopBound<Residents>
    private var residents: Residents { bound.value }

    /// Starts the thread.
    /// - Parameter clock: a clock controlled by a test; nil for the system's.
    package init(name: String, clock: ManualClock? = nil) throws(Errno) {
        thread = try LoopThread(name: name, clock: clock, isDirect: true)
        loop = thread.loop
        bound = LoopBound(sending: Residents(), to: loop)
        scratch = .allocate(byteCount: StreamWord.byteCount + Self.maxChunk, alignment: 16)
    }

    deinit {
        scratch.deallocate()
    }

    /// The number of streams, including those that are ending. On the loop's thread only.
    package var count: Int { residents.connections.count }

    /// The maximum plaintext of one stream in one direction. It decreases with the number of
    /// streams.
    var chunk: Int {
        max(Self.minChunk, min(Self.maxChunk, Self.budget / max(1, count)))
    }

    /// The same for a stream whose app shares memory. It is a part of its ring, so that the app can
    /// fill one part while another is processed.
    var sharedChunk: Int { min(Self.maxSharedChunk, chunk) }

    /// Runs work on the loop's thread.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        loop.perform(work)
    }

    /// True if a stream has moved bulk data. Its priority is low then. May be used by any thread.
    package var isBulk: Bool { lowered.load(ordering: .relaxed) }

    /// Lowers the priority of the thread. Until then, it has that of the daemon: on a busy machine,
    /// a typed key of a terminal would otherwise take milliseconds.
    func becomeBulk() {
        guard !lowered.exchange(true, ordering: .relaxed) else { return }
        ThreadPriority.lower(to: ThreadPriority.bulk)
    }

    /// Stops the thread once all streams have ended.
    package func retire() {
        // Strong, because the timer must be released on the loop's thread.
        perform { [self] in
            residents.isRetired = true
            stopIfUnused()
        }
    }

    private func stopIfUnused() {
        guard residents.isRetired, residents.connections.isEmpty else { return }
        residents.cooling = nil
        loop.stop()
    }

    /// Stops the thread. Open streams end without sending a reset. Must not be called on the loop.
    package func stop() {
        // Weak because a thread that has already ended never removes this from the loop.
        perform { [weak self] in self?.drop() }
        thread.stop()
    }

    private func drop() {
        for connection in residents.connections.values { connection.drop() }
        residents.cooling = nil
    }

    // MARK: Connections

    func add(_ connection: StreamConnection) {
        residents.connections[ObjectIdentifier(connection)] = connection
    }

    func remove(_ connection: StreamConnection) {
        let residents = residents
        residents.connections[ObjectIdentifier(connection)] = nil
        residents.warm[ObjectIdentifier(connection)] = nil
        stopIfUnused()
    }

    /// Marks a connection as active. It releases memory once it has been inactive for a while.
    func warmed(_ connection: StreamConnection) {
        let residents = residents
        residents.warm[ObjectIdentifier(connection)] = connection
        guard residents.cooling == nil else { return }
        residents.cooling = loop.timer(after: Self.coolingTime, accuracy: .milliseconds(250)) { [weak self] in
            self?.cool()
        }
    }

    private func cool() {
        let residents = residents
        residents.cooling = nil
        let former = residents.warm
        residents.warm = [:]
        for connection in former.values where !connection.cool() {
            residents.warm[ObjectIdentifier(connection)] = connection
        }
        if let first = residents.warm.values.first { warmed(first) }
    }
}
