import CLinux

/// One direction of a stream in memory shared by two processes: a ring buffer between one writer
/// and one reader, and the counters that they publish to each other (see the table in
/// `docs/control-protocol.md`).
///
/// A malicious peer may write anything at any time. Each side therefore keeps its own counters
/// privately and only publishes them. A counter of the peer is read once and checked, and is not
/// read again for the same purpose.
struct RingLayout {
    /// The offsets of the counters in the direction's header. Each has its own cache line.
    private enum Offset {
        /// The total number of bytes written. Set by the writer.
        static let written = 0
        /// Nonzero: no more bytes follow. Set by the writer.
        static let hasEnded = 8
        /// The total number of bytes read. Set by the reader.
        static let read = 64
        /// Nonzero: the reader waits for the bell. Set by the reader, cleared by the writer.
        static let readerWaits = 128
        /// Nonzero: the writer waits for the bell.
        static let writerWaits = 192
    }

    private let header: UnsafeMutableRawPointer
    private let data: UnsafeMutableRawPointer
    /// The size of the ring in bytes, a power of two.
    let size: Int

    init(header: UnsafeMutableRawPointer, data: UnsafeMutableRawPointer, size: Int) {
        self.header = header
        self.data = data
        self.size = size
    }

    /// Returns the bytes from a stream position on, up to the end of the ring.
    func bytes(from position: UInt64, count: Int) -> UnsafeMutableRawBufferPointer {
        let start = Int(truncatingIfNeeded: position) & (size - 1)
        return UnsafeMutableRawBufferPointer(start: data + start, count: min(count, size - start))
    }

    /// Releases the memory of the ring. Its content is lost.
    func empty() { clinux_empty_shared(data, size) }

    var written: UInt64 { clinux_load_shared(header + Offset.written) }

    func publish(written: UInt64) { clinux_store_shared(header + Offset.written, written) }

    var read: UInt64 { clinux_load_shared(header + Offset.read) }

    func publish(read: UInt64) { clinux_store_shared(header + Offset.read, read) }

    var hasEnded: Bool { clinux_load_word_shared(header + Offset.hasEnded) != 0 }

    func publishEnd() { _ = clinux_exchange_shared(header + Offset.hasEnded, 1) }

    /// Announces that the reader or the writer waits, before any later read of the shared state.
    func waits(_ waits: Bool, asReader: Bool) {
        _ = clinux_exchange_shared(header + (asReader ? Offset.readerWaits : Offset.writerWaits), waits ? 1 : 0)
        clinux_order_shared()
    }

    /// Returns true once if the peer waits and must be woken. Call it after publishing what the
    /// peer waits for.
    func takeWaiting(ofReader: Bool) -> Bool {
        clinux_order_shared()
        let word = header + (ofReader ? Offset.readerWaits : Offset.writerWaits)
        // Usually the peer does not wait, and a load is cheaper than an exchange.
        return clinux_load_word_shared(word) != 0 && clinux_exchange_shared(word, 0) != 0
    }
}

/// The peer has violated the protocol of the shared memory. Its content is no longer valid.
package struct BrokenRing: Error, Equatable, Sendable {}
