import Glibc
import LoopIO
import Testing

/// The state of a process after it has released memory.
struct FreeMemoryTests {
    private class Shape {
        var corners: Int { 0 }
    }

    private final class Triangle: Shape {
        override var corners: Int { 3 }
    }

    nonisolated(unsafe) private static var written = 1

    @Test func `mapped code is unmapped, and written or relocated data is unchanged`() throws {
        Self.written = 2
        let shape: Shape = Triangle()
        let before = try mappedCode()
        FreeMemory.release()
        let after = try mappedCode()
        #expect(after < before)
        #expect(Self.written == 2)
        #expect(shape.corners == 3)
        #expect("ß".uppercased() == "SS")
    }

    /// Returns the KiB of mapped code of this process, including all libraries.
    private func mappedCode() throws -> Int {
        var sum = 0
        var isCode = false
        for line in try lines(of: "/proc/self/smaps") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count >= 5, words[0].contains("-"), !words[0].hasSuffix(":") { isCode = words[1] == "r-xp" }
            if isCode, words.first == "Rss:" { sum += Int(words[1]) ?? 0 }
        }
        return sum
    }

    /// Returns the lines of a kernel file, which is read in pieces: Foundation takes a short piece
    /// for the last one.
    private func lines(of path: String) throws -> [String] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        var lines: [String] = []
        while getline(&line, &capacity, file) > 0, let line { lines.append(String(cString: line)) }
        return lines
    }
}
