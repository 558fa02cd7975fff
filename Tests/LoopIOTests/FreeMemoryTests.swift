import Glibc
import LoopIO
import Testing

/// What is left of a process that has given memory back.
struct FreeMemoryTests {
    private class Shape {
        var corners: Int { 0 }
    }

    private final class Triangle: Shape {
        override var corners: Int { 3 }
    }

    nonisolated(unsafe) private static var written = 1

    @Test func `code that was mapped is gone, and what was written or relocated is as it was`() throws {
        Self.written = 2
        let shape: Shape = Triangle()
        let before = try mappedCode()
        FreeMemory.giveBack()
        let after = try mappedCode()
        #expect(after < before)
        #expect(Self.written == 2)
        #expect(shape.corners == 3)
        #expect("ß".uppercased() == "SS")
    }

    /// KiB of code that this process has mapped, of the program and all libraries.
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

    /// The lines of a file of the kernel, which gives it in pieces: Foundation takes a short one for the last.
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
