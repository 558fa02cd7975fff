import Glibc
import LoopIO

/// The data and holes of a file (lseek(2)). Holes read as zeros and use no disk space.
enum DataRuns {
    /// The minimum size of a hole that is not sent. A smaller hole is sent as zeros, because
    /// announcing it takes a round trip.
    static let minHoleSize: Int64 = 1 << 20
    /// The maximum number of holes examined for one run. A run with more of them ends there, so
    /// that other work is not delayed.
    private static let maxHolesPerRun = 1024

    private static let data: Int32 = 3  // SEEK_DATA, which Swift does not import
    private static let hole: Int32 = 4  // SEEK_HOLE

    /// Returns the next bytes of a file to send, starting at or after `offset`. Returns an empty
    /// range at `size` if there are none. Returns all remaining bytes if the file system does not
    /// report holes or the file has become shorter. Changes the descriptor's offset.
    static func next(in number: Int32, from offset: Int64, size: Int64) -> Range<Int64> {
        let first = seek(number, data, from: offset, size: size)
        let start = first - offset < minHoleSize ? offset : first
        var end = first
        for _ in 0..<maxHolesPerRun where end < size {
            end = seek(number, hole, from: end, size: size)
            let next = seek(number, data, from: end, size: size)
            guard next - end < minHoleSize else { break }
            end = next
        }
        return start..<max(start, end)
    }

    /// Returns the first offset, from `offset` on, that is not in a hole, or `size` if there is
    /// none. Changes the descriptor's offset.
    static func firstData(in number: Int32, from offset: Int64, size: Int64) -> Int64 {
        seek(number, data, from: offset, size: size)
    }

    private static func seek(_ number: Int32, _ what: Int32, from offset: Int64, size: Int64) -> Int64 {
        guard offset < size else { return size }
        let found = Int64(lseek(number, off_t(offset), what))
        // ENXIO: past the last data. Other errors: the holes are unknown, so everything counts as
        // data.
        guard found >= offset else { return what == data && errno != ENXIO ? offset : size }
        return min(found, size)
    }
}
