import CLinux

/// One direction of a stream in memory that two processes share: a ring of bytes between one writer and one reader, and the numbers
/// by which they know of each other (`docs/control-protocol.md` has the table).
///
/// Either side may write anything at any time if it means harm. So each keeps its own numbers to itself and only publishes them, and a
/// number of the other side counts as what it was when it was read and checked, and is never read again for the same purpose.
struct RingLayout {
    /// Where the numbers are, behind the beginning of the direction's header. Each on a cache line of its own.
    private enum Offset {
        /// Bytes that were written in all; the writer's.
        static let written = 0
        /// Not zero: nothing comes behind these bytes; the writer's.
        static let hasEnded = 8
        /// Bytes that were read in all; the reader's.
        static let read = 64
        /// Not zero: the reader waits for a ring of the bell; set by the reader, taken by the writer.
        static let readerWaits = 128
        /// Not zero: the writer waits for one.
        static let writerWaits = 192
    }

    private let header: UnsafeMutableRawPointer
    private let data: UnsafeMutableRawPointer
    /// Bytes of the ring, a power of two.
    let size: Int

    init(header: UnsafeMutableRawPointer, data: UnsafeMutableRawPointer, size: Int) {
        self.header = header
        self.data = data
        self.size = size
    }

    /// The bytes from a place of the direction on, as far as they stand side by side.
    func bytes(from position: UInt64, count: Int) -> UnsafeMutableRawBufferPointer {
        let start = Int(truncatingIfNeeded: position) & (size - 1)
        return UnsafeMutableRawBufferPointer(start: data + start, count: min(count, size - start))
    }

    /// Gives the memory of the ring back; what it held is lost.
    func empty() { clinux_empty_shared(data, size) }

    var written: UInt64 { clinux_load_shared(header + Offset.written) }

    func publish(written: UInt64) { clinux_store_shared(header + Offset.written, written) }

    var read: UInt64 { clinux_load_shared(header + Offset.read) }

    func publish(read: UInt64) { clinux_store_shared(header + Offset.read, read) }

    var hasEnded: Bool { clinux_load_word_shared(header + Offset.hasEnded) != 0 }

    func publishEnd() { _ = clinux_exchange_shared(header + Offset.hasEnded, 1) }

    /// Says that the reader, or the writer, waits, and makes that known before anything is looked at again.
    func waits(_ waits: Bool, asReader: Bool) {
        _ = clinux_exchange_shared(header + (asReader ? Offset.readerWaits : Offset.writerWaits), waits ? 1 : 0)
        clinux_order_shared()
    }

    /// Whether the other side waits, and has to be woken; said once. To be asked after what it waits for was published.
    func takeWaiting(ofReader: Bool) -> Bool {
        clinux_order_shared()
        let word = header + (ofReader ? Offset.readerWaits : Offset.writerWaits)
        // Mostly nobody waits, and a look costs less than an exchange.
        return clinux_load_word_shared(word) != 0 && clinux_exchange_shared(word, 0) != 0
    }
}

/// The other side has broken the rules of the shared memory: nothing in it means anything any more.
package struct BrokenRing: Error, Equatable, Sendable {}
