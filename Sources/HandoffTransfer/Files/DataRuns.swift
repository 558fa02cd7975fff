import Glibc
import LoopIO

/// Where a file has data, and where it has holes, which are read as zeros and take no room (lseek(2)).
enum DataRuns {
    /// A smaller hole is sent as the zeros that it is: to say so takes a round trip.
    static let smallestHole: Int64 = 1 << 20
    /// Holes that are looked at for one run. One that has more ends where they do, in favour of whoever waits meanwhile.
    private static let patience = 1024

    private static let data: Int32 = 3  // SEEK_DATA, which the importer does not show
    private static let hole: Int32 = 4  // SEEK_HOLE

    /// The next bytes of a file that have to be sent, from `offset` on; empty at `size` when there are none. Where the file system does
    /// not know, or the file has become shorter, that is all. The descriptor's offset becomes any.
    static func next(in number: Int32, from offset: Int64, size: Int64) -> Range<Int64> {
        let first = seek(number, data, from: offset, size: size)
        let start = first - offset < smallestHole ? offset : first
        var end = first
        for _ in 0..<patience where end < size {
            end = seek(number, hole, from: end, size: size)
            let next = seek(number, data, from: end, size: size)
            guard next - end < smallestHole else { break }
            end = next
        }
        return start..<max(start, end)
    }

    /// The first byte from `offset` on that is not in a hole; `size` when there is none. The descriptor's offset becomes any.
    static func firstData(in number: Int32, from offset: Int64, size: Int64) -> Int64 {
        seek(number, data, from: offset, size: size)
    }

    private static func seek(_ number: Int32, _ what: Int32, from offset: Int64, size: Int64) -> Int64 {
        guard offset < size else { return size }
        let found = Int64(lseek(number, off_t(offset), what))
        // ENXIO: behind the last data. Anything else: it cannot be known, so all of it counts as data.
        guard found >= offset else { return what == data && errno != ENXIO ? offset : size }
        return min(found, size)
    }
}
