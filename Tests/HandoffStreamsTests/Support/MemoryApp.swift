import CLinux
import Glibc
import HandoffStreams
import LoopIO
import Testing

/// A simulated app that shares memory for its stream.
final class MemoryApp {
    private let fixture: StreamFixture
    private let roomBell: RawSocket
    private let memory: StreamMemory
    private let header: UnsafeMutableRawPointer
    var writer: RingWriter
    var reader: RingReader
    /// The outcome reported by the stream.
    let outcome: PassedMemory.Outcome

    /// - Parameter position: bytes that the app has already written to its socket.
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

    /// Writes as many bytes as there is room for, and returns their number.
    func writeSome(_ bytes: [UInt8]) throws -> Int {
        let (count, rings) = try bytes.withUnsafeBytes { try writer.write($0) }
        if rings { Bell.ring(fixture.app.raw) }
        return count
    }

    /// Writes all bytes, waiting for room.
    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (count, rings) = try rest.withUnsafeBytes { try writer.write($0) }
            rest = rest.dropFirst(count)
            if rings { Bell.ring(fixture.app.raw) }
            if count == 0, try writer.wait() { _ = try roomBell.readSome(64) }
        }
    }

    /// Reads exactly this many bytes, waiting for them.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try some(count - bytes.count)
            try #require(!piece.isEmpty, "it has ended")
            bytes += piece
        }
        return bytes
    }

    /// Reads until the other side signals the end or the stream ends.
    func rest() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while case let piece = try some(100_000), !piece.isEmpty { bytes += piece }
        return bytes
    }

    /// True if the end was signalled explicitly.
    var isAtEnd: Bool { get throws { try reader.isAtEnd() } }

    func end() {
        if writer.end() { Bell.ring(fixture.app.raw) }
    }

    /// Publishes the total number of bytes written.
    func claim(written: UInt64) {
        clinux_store_shared(header, written)
        Bell.ring(fixture.app.raw)
    }

    private func some(_ limit: Int) throws -> [UInt8] {
        while true {
            var rings = false
            let bytes = try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                (count, rings) = try reader.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            if rings { Bell.ring(fixture.app.raw) }
            if !bytes.isEmpty { return bytes }
            if try reader.isAtEnd() { return [] }
            guard try reader.wait() else { continue }
            // The data ends with the stream.
            if try fixture.app.readSome(64).isEmpty { return try reader.hasBytes() ? some(limit) : [] }
        }
    }
}
