import CLinux
import Glibc

/// Memory through which the bytes of a stream go between an app and the daemon, in place of the socket: a ring for each direction.
/// The app makes it (memfd_create(2)) and passes it on; it stays mapped as long as this object or a ring of it lives.
///
/// Unchecked: the addresses never change, and what is there is only touched by the one reader and the one writer of each ring.
package final class StreamMemory: @unchecked Sendable {
    /// Who made the memory, and so writes into its first ring.
    package enum Side: Sendable {
        /// The app.
        case app
        /// The daemon.
        case daemon
    }

    /// Bytes of a ring that an app makes.
    package static let usualRingSize = 1024 * 1024
    /// The sizes that the daemon accepts, powers of two: with 64 streams, at most 128 MiB.
    private static let ringSizes = 64 * 1024...usualRingSize
    /// The header of each direction: a page.
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

    /// Makes memory, and a descriptor of it to be passed on.
    /// - Parameter ringSize: bytes of each of the two rings, a power of two.
    package static func make(ringSize: Int = usualRingSize) throws(Errno) -> NewStreamMemory {
        let size = 2 * (headerSize + ringSize)
        let descriptor = Descriptor(owning: try SystemCall.retrying { clinux_shared_memory(size) })
        let memory = try StreamMemory(mapping: descriptor.raw, size: size, ringSize: ringSize)
        return NewStreamMemory(memory: memory, descriptor: descriptor)
    }

    /// Maps memory that another process has made. The descriptor is needed for the time of this call only.
    /// - Throws: `invalidArgument` when it is no memory of this layout, or its size could still change.
    package convenience init(passed descriptor: Int32) throws(Errno) {
        let size = Int(try SystemCall.retrying { clinux_shared_memory_size(descriptor) })
        let ringSize = size / 2 - Self.headerSize
        guard Self.ringSizes.contains(ringSize), ringSize & (ringSize - 1) == 0,
            size == 2 * (Self.headerSize + ringSize)
        else { throw .invalidArgument }
        try self.init(mapping: descriptor, size: size, ringSize: ringSize)
    }

    /// The end of this process for writing; made once.
    package func writer(as side: Side) -> RingWriter { RingWriter(self, ring(side == .app ? 0 : 1)) }

    /// The end of this process for reading; made once.
    package func reader(as side: Side) -> RingReader { RingReader(self, ring(side == .app ? 1 : 0)) }

    /// The direction from the app, or to it.
    private func ring(_ index: Int) -> RingLayout {
        RingLayout(
            header: address + index * Self.headerSize, data: address + 2 * Self.headerSize + index * ringSize,
            size: ringSize)
    }
}

/// Memory that was made, with its descriptor, which is needed until it was passed on.
package struct NewStreamMemory: ~Copyable {
    /// The memory, mapped.
    package let memory: StreamMemory
    /// What the other process gets.
    package let descriptor: Descriptor
}
