import CLinux
import Glibc

/// Memory that carries the bytes of a stream between an app and the daemon instead of the socket,
/// with a ring for each direction. The app creates it (memfd_create(2)) and passes it to the
/// daemon. It stays mapped as long as this object or one of its rings exists.
///
/// Unchecked: the addresses never change, and only the one reader and the one writer of each ring
/// access the content.
package final class StreamMemory: @unchecked Sendable {
    /// The process that uses the memory. The app writes to the first ring.
    package enum Side: Sendable {
        /// The app.
        case app
        /// The daemon.
        case daemon
    }

    /// The ring size in bytes that an app uses.
    static let usualRingSize = 1024 * 1024
    /// The ring sizes that the daemon accepts, powers of two: 64 streams need at most 128 MiB.
    private static let ringSizes = 64 * 1024...usualRingSize
    /// The size of each direction's header: one page.
    private static let headerSize = 4096

    private let address: UnsafeMutableRawPointer
    private let size: Int
    private let ringSize: Int

    private init(mapping descriptor: Int32, size: Int, ringSize: Int) throws(Errno) {
        guard let address = clinux_map_shared(descriptor, size) else { throw .current }
        self.address = address
        self.size = size
        self.ringSize = ringSize
    }

    deinit {
        clinux_unmap_shared(address, size)
    }

    /// Creates memory with a descriptor for the other process.
    /// - Parameter ringSize: bytes of each ring, a power of two.
    package static func make(ringSize: Int = usualRingSize) throws(Errno) -> NewStreamMemory {
        let size = 2 * (headerSize + ringSize)
        let descriptor = Descriptor(owning: try SystemCall.retrying { clinux_shared_memory(size) })
        let memory = try StreamMemory(mapping: descriptor.raw, size: size, ringSize: ringSize)
        return NewStreamMemory(memory: memory, descriptor: descriptor)
    }

    /// Maps memory that another process has created. The descriptor is needed only during this
    /// call.
    /// - Throws: `invalidArgument` if it is not memory of this layout, or if its size could still
    ///   change.
    package convenience init(passed descriptor: Int32) throws(Errno) {
        let size = Int(try SystemCall.retrying { clinux_shared_memory_size(descriptor) })
        let ringSize = size / 2 - Self.headerSize
        guard Self.ringSizes.contains(ringSize), ringSize & (ringSize - 1) == 0,
            size == 2 * (Self.headerSize + ringSize)
        else { throw .invalidArgument }
        try self.init(mapping: descriptor, size: size, ringSize: ringSize)
    }

    /// Returns this process's writing end. Create it once only.
    package func writer(as side: Side) -> RingWriter { RingWriter(self, ring(side == .app ? 0 : 1)) }

    /// Returns this process's reading end. Create it once only.
    package func reader(as side: Side) -> RingReader { RingReader(self, ring(side == .app ? 1 : 0)) }

    /// Returns the ring from the app (0) or to the app (1).
    private func ring(_ index: Int) -> RingLayout {
        RingLayout(
            header: address + index * Self.headerSize, data: address + 2 * Self.headerSize + index * ringSize,
            size: ringSize)
    }
}

/// New memory, and the descriptor to pass to the other process. Keep the descriptor until it was
/// passed.
package struct NewStreamMemory: ~Copyable {
    /// The memory, mapped.
    package let memory: StreamMemory
    /// The descriptor for the other process.
    package let descriptor: Descriptor
}
