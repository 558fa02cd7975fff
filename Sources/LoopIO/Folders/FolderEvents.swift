import Glibc

/// The events of all folders watched on one loop, from a single inotify(7) instance: a user may
/// have 128 instances for all programs together. Use it on the loop's thread only. It exists as
/// long as any `FolderWatch` of the loop.
final class FolderEvents {
    /// A `struct inotify_event` without the cookie.
    struct Event {
        let watch: Int32
        let mask: UInt32
        let name: ArraySlice<UInt8>
    }

    private struct Listener {
        weak var watch: FolderWatch?
    }

    /// One buffer holds many events. The kernel returns whole events only.
    private static let bufferSize = 16_384
    /// The maximum number of buffers read per turn of the loop.
    private static let maxBuffersPerTurn = 8
    private static let mask = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR)

    private let descriptor: Descriptor
    private var source: EventSource?
    private var listeners: [Listener] = []

    /// - Throws: an error of inotify_init1(2): this user has too many instances (EMFILE).
    init(on loop: EventLoop) throws(Errno) {
        descriptor = Descriptor(owning: try SystemCall.retrying { inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)) })
        source = try loop.watch(descriptor.raw, .readable) { [weak self] _ in self?.read() }
    }

    deinit {
        // Cancel the source before its descriptor is closed.
        source?.cancel()
    }

    /// Delivers events to a watch until it is released.
    func add(_ watch: FolderWatch) {
        listeners.removeAll { $0.watch == nil }
        listeners.append(Listener(watch: watch))
    }

    /// Watches a folder, which may be watched already.
    /// - Returns: the kernel's watch descriptor.
    /// - Throws: an error of inotify_add_watch(2).
    func addWatch(_ path: String) throws(Errno) -> Int32 {
        try SystemCall.retrying { inotify_add_watch(descriptor.raw, path.systemPath, Self.mask) }
    }

    /// Stops watching those folders that no watch needs any more.
    func removeWatches(_ numbers: Set<Int32>) {
        for number in numbers where !listeners.contains(where: { $0.watch?.isWatching(number) ?? false }) {
            // Fails if the folder was already removed.
            _ = inotify_rm_watch(descriptor.raw, number)
        }
    }

    private func read() {
        for _ in 0..<Self.maxBuffersPerTurn {
            var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
            // EWOULDBLOCK ends the loop. Any other error means that there is nothing to read.
            let count = Glibc.read(descriptor.raw, &buffer, buffer.count)
            guard count > 0 else { break }
            for event in Self.events(in: buffer[..<count]) {
                for listener in listeners { listener.watch?.note(event) }
            }
        }
        // A handler may release a watch, which is then not notified, or add one.
        for listener in listeners { listener.watch?.notify() }
    }

    /// Parses `struct inotify_event`s: watch, mask, cookie and length of 4 bytes each, and a name
    /// padded with NULs.
    private static func events(in bytes: ArraySlice<UInt8>) -> [Event] {
        var events: [Event] = []
        var rest = bytes
        while rest.count >= 16 {
            let words = (0..<4).map { index in
                rest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self) }
            }
            let length = Int(words[3])
            guard rest.count >= 16 + length else { break }
            let name = rest.dropFirst(16).prefix(length).prefix { $0 != 0 }
            rest = rest.dropFirst(16 + length)
            events.append(Event(watch: Int32(bitPattern: words[0]), mask: words[1], name: name))
        }
        return events
    }
}
