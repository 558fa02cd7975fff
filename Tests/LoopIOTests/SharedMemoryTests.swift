import CLinux
import Glibc
import Testing

@testable import LoopIO

/// The rings of shared memory. Both ends are in this process.
@Suite struct SharedMemoryTests {
    /// Both ends of the direction from the app, over two mappings of the same memory.
    private final class Direction {
        let size: Int
        let app: StreamMemory
        let daemon: StreamMemory
        var writer: RingWriter
        var reader: RingReader

        init(size: Int = 64 * 1024) throws {
            let made = try StreamMemory.make(ringSize: size)
            self.size = size
            app = made.memory
            daemon = try StreamMemory(passed: made.descriptor.raw)
            writer = app.writer(as: .app)
            reader = daemon.reader(as: .daemon)
        }

        func write(_ bytes: [UInt8]) throws -> (count: Int, rings: Bool) {
            try bytes.withUnsafeBytes { try writer.write($0) }
        }

        func end() -> Bool { writer.end() }

        func waitForRoom() throws -> Bool { try writer.wait() }

        func waitForBytes() throws -> Bool { try reader.wait() }

        var hasRoom: Bool { get throws { try writer.hasRoom() } }

        var isAtEnd: Bool { get throws { try reader.isAtEnd() } }

        /// The contiguous bytes for the reader, and the contiguous room for the writer.
        var together: (bytes: Int, room: Int) {
            get throws { (try reader.bytes(upTo: .max).count, try writer.space(upTo: .max).count) }
        }

        func read(_ limit: Int) throws -> (bytes: [UInt8], rings: Bool) {
            var rings = false
            let bytes = try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                (count, rings) = try reader.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            return (bytes, rings)
        }
    }

    private func pattern(_ count: Int, from first: Int = 0) -> [UInt8] {
        (first..<first + count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    @Test func `bytes arrive in order over many rounds of the ring`() throws {
        let direction = try Direction()
        var (sent, received) = (0, 0)
        // A piece size that does not divide the size of the ring.
        while received < 5 * direction.size {
            sent += try direction.write(pattern(30_011, from: sent)).count
            let bytes = try direction.read(20_021).bytes
            #expect(bytes == pattern(bytes.count, from: received))
            received += bytes.count
        }
    }

    @Test func `a write is limited to the room, and continues when there is more`() throws {
        let direction = try Direction()
        #expect(try direction.write(pattern(direction.size + 1)).count == direction.size)
        #expect(try direction.write([1]).count == 0)
        #expect(try !direction.hasRoom)
        #expect(try direction.read(100).bytes == pattern(100))
        #expect(try direction.write(pattern(200)).count == 100)
    }

    @Test func `contiguous bytes end at the end of the ring`() throws {
        let direction = try Direction()
        _ = try direction.write(pattern(direction.size))
        _ = try direction.read(1000)
        _ = try direction.write(pattern(500))
        #expect(try direction.together == (direction.size - 1000, 500))
    }

    @Test func `the end follows all bytes`() throws {
        let direction = try Direction()
        _ = try direction.write([1, 2, 3])
        #expect(!direction.end())
        #expect(try !direction.isAtEnd)
        #expect(try direction.read(3).bytes == [1, 2, 3])
        #expect(try direction.isAtEnd)
        #expect(!direction.end())
    }

    @Test func `the bell of a waiting reader is rung once`() throws {
        let direction = try Direction()
        #expect(try !direction.write([1]).rings)
        #expect(try !direction.waitForBytes())
        _ = try direction.read(1)
        #expect(try direction.waitForBytes())
        #expect(try direction.write([1]).rings)
        #expect(try !direction.write([2]).rings)
        _ = try direction.read(2)
        #expect(try direction.waitForBytes())
        #expect(direction.end())
        #expect(try !direction.waitForBytes())
    }

    @Test func `the bell of a waiting writer is rung when half of the ring is empty`() throws {
        let direction = try Direction()
        #expect(try !direction.waitForRoom())
        _ = try direction.write(pattern(direction.size))
        #expect(try direction.waitForRoom())
        #expect(try !direction.read(direction.size / 2 - 1).rings)
        #expect(try direction.read(1).rings)
        #expect(try !direction.read(1).rings)
    }

    @Test func `released memory can be used again`() throws {
        let direction = try Direction()
        _ = try direction.write(pattern(1000))
        direction.writer.releaseMemory()
        #expect(try direction.read(1000).bytes == pattern(1000))
        direction.writer.releaseMemory()
        _ = try direction.write(pattern(5000))
        #expect(try direction.read(5000).bytes == pattern(5000))
    }

    @Test(arguments: [0, 64]) func `impossible counters are rejected`(offset: Int) throws {
        let made = try StreamMemory.make(ringSize: 64 * 1024)
        let memory = try StreamMemory(passed: made.descriptor.raw)
        let header = try #require(clinux_map_shared(made.descriptor.raw, 4096))
        defer { clinux_unmap_shared(header, 4096) }
        // More was written than the ring's size, or more was read than was written.
        clinux_store_shared(header + offset, 64 * 1024 + 1)
        let reader = memory.reader(as: .daemon)
        let writer = memory.writer(as: .app)
        func broken(_ body: () throws -> Void) -> Bool {
            do { try body() } catch { return error is BrokenRing }
            return false
        }
        // Each end trusts its own counter and checks that of its peer.
        if offset == 0 {
            #expect(broken { _ = try reader.hasBytes() })
            #expect(broken { _ = try reader.wait() })
            #expect(broken { _ = try reader.bytes(upTo: 1) })
        } else {
            #expect(broken { _ = try writer.hasRoom() })
            #expect(broken { _ = try writer.wait() })
            #expect(broken { _ = try writer.space(upTo: 1) })
        }
    }

    @Test(arguments: [1, 4096, 2 * 4096, 2 * (4096 + 32 * 1024), 2 * (4096 + 65 * 1024), 2 * (4096 + 8 << 20)])
    func `memory of another layout is rejected`(size: Int) throws {
        let descriptor = Descriptor(owning: clinux_shared_memory(size))
        let raw = descriptor.raw
        #expect(throws: Errno.invalidArgument) { try StreamMemory(passed: raw) }
    }

    @Test func `a descriptor that is not memory is rejected`() throws {
        #expect(throws: Errno.self) { try StreamMemory(passed: 0) }
    }

    @Test func `a bell is pending until it is silenced, and reports the peer's end`() throws {
        let pair = try Descriptor.socketPair()
        let (ours, theirs) = (pair.first.raw, pair.second.raw)
        // More often than fits into the buffer: it neither blocks nor fails.
        for _ in 0..<100_000 { Bell.ring(ours) }
        #expect(Bell.silence(theirs))
        #expect(Bell.silence(theirs))
        #expect(shutdown(ours, Int32(SHUT_RDWR)) == 0)
        #expect(!Bell.silence(theirs))
    }
}
