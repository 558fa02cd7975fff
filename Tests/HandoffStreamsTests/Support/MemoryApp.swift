import CLinux
import Glibc
import HandoffStreams
import LoopIO
import Testing

/// An app that shares memory for its stream, played by the test.
final class MemoryApp {
    private let fixture: StreamFixture
    private let roomBell: RawSocket
    private let memory: StreamMemory
    private let header: UnsafeMutableRawPointer
    var writer: RingWriter
    var reader: RingReader
    /// What the stream said.
    let outcome: PassedMemory.Outcome

    /// - Parameter position: bytes that the app has written to its socket before.
    init(_ fixture: StreamFixture, position: UInt64 = 0) throws {
        self.fixture = fixture
        let made = try StreamMemory.make(ringSize: 64 * 1024)
        header = try #require(clinux_map_shared(made.descriptor.raw, 4096))
        memory = made.memory
        writer = memory.writer(as: .app)
        reader = memory.reader(as: .app)
        let (ours, theirs) = try RawSocket.local()
        roomBell = ours
        let passed = PassedMemory(
            position: position, memory: try StreamMemory(passed: made.descriptor.raw),
            roomBell: HandedDescriptor(try theirs.take()))
        let outcomes = Mailbox<PassedMemory.Outcome>()
        fixture.handle.share(passed) { outcomes.put($0) }
        outcome = try outcomes.next()
    }

    deinit {
        clinux_unmap_shared(header, 4096)
    }

    /// Writes what there is room for; returns how many bytes that was.
    func writeSome(_ bytes: [UInt8]) throws -> Int {
        let (count, rings) = try bytes.withUnsafeBytes { try writer.write($0) }
        if rings { Bell.ring(fixture.app.raw) }
        return count
    }

    /// Writes all bytes, and waits for room.
    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (count, rings) = try rest.withUnsafeBytes { try writer.write($0) }
            rest = rest.dropFirst(count)
            if rings { Bell.ring(fixture.app.raw) }
            if count == 0, try writer.wait() { _ = try roomBell.readSome(64) }
        }
    }

    /// Reads exactly so many bytes, and waits for them.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try some(count - bytes.count)
            try #require(!piece.isEmpty, "it has ended")
            bytes += piece
        }
        return bytes
    }

    /// Reads to the end, which the other side has said, or which is where the stream is over.
    func rest() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while case let piece = try some(100_000), !piece.isEmpty { bytes += piece }
        return bytes
    }

    /// Whether the end was said, and not only seen.
    var isAtEnd: Bool { get throws { try reader.isAtEnd() } }

    func end() {
        if writer.end() { Bell.ring(fixture.app.raw) }
    }

    /// Says that so much was written in all.
    func claim(written: UInt64) {
        clinux_store_shared(header, written)
        Bell.ring(fixture.app.raw)
    }

    private func some(_ most: Int) throws -> [UInt8] {
        while true {
            var rings = false
            let bytes = try [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
                (count, rings) = try reader.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            if rings { Bell.ring(fixture.app.raw) }
            if !bytes.isEmpty { return bytes }
            if try reader.isAtEnd() { return [] }
            guard try reader.wait() else { continue }
            // Its end is where the stream is over.
            if try fixture.app.readSome(64).isEmpty { return try reader.hasBytes() ? some(most) : [] }
        }
    }
}
