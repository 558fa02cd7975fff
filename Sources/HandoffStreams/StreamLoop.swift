package import LoopIO

/// A thread that moves the bytes of streams, with the memory that they share. `loop`, `perform` and `stop` are for all threads,
/// everything else belongs to the loop's thread.
package final class StreamLoop: Sendable {
    /// The streams that live here.
    private final class Residents {
        var connections: [ObjectIdentifier: StreamConnection] = [:]
        /// Those that have moved bytes lately.
        var warm: [ObjectIdentifier: StreamConnection] = [:]
        var cooling: LoopTimer?
    }

    /// The most plaintext that is worked on in one go; twice as much as 256 KiB costs a tenth less time for each GiB.
    static let maxChunk = 512 * 1024
    /// The same for a stream whose app shares memory.
    private static let maxSharedChunk = 512 * 1024
    /// What all streams of a loop together may hold in either direction, give or take a chunk each.
    private static let budget = 64 * 1024 * 1024
    private static let smallestChunk = 16 * 1024
    /// How long memory for bulk data is kept when nothing moves.
    private static let coolingTime = Duration.seconds(1)

    /// Where the streams live.
    package let loop: EventLoop
    private let thread: LoopThread
    /// Where plaintext passes through; its content means nothing once a step is over. Room for a word before the data.
    ///
    /// Unsafe for the compiler only: the address never changes, and what is there is only touched on the loop's thread.
    nonisolated(unsafe) let scratch: UnsafeMutableRawBufferPointer
    private let bound: LoopBound<Residents>
    private var residents: Residents { bound.value }

    /// Starts the thread.
    /// - Parameter clock: a clock that a test moves; nil for the system's.
    package init(name: String, clock: ManualClock? = nil) throws(Errno) {
        thread = try LoopThread(name: name, clock: clock, niceness: ThreadPriority.bulk)
        loop = thread.loop
        bound = LoopBound(sending: Residents(), to: loop)
        scratch = .allocate(byteCount: StreamWord.byteCount + Self.maxChunk, alignment: 16)
    }

    deinit {
        scratch.deallocate()
    }

    /// Streams that live here, those included that take leave. On the loop's thread.
    package var count: Int { residents.connections.count }

    /// How much plaintext one stream may have under way in one direction now; less, the more streams there are.
    var chunk: Int {
        max(Self.smallestChunk, min(Self.maxChunk, Self.budget / max(1, count)))
    }

    /// The same for a stream whose app shares memory: part of its ring, so that the app fills one part while another one is worked on.
    var sharedChunk: Int { min(Self.maxSharedChunk, chunk) }

    /// Does work on the loop's thread.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        loop.perform(work)
    }

    /// Ends the thread; streams that are open end without a word. Not to be called on the loop.
    package func stop() {
        // Weak: when the thread has ended already, nobody takes this from the loop any more.
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
    }

    /// A connection has moved bytes: once it has not for a while, it is asked to give memory back.
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
