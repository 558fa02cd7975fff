import Foundation
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
        for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            if words.count >= 5, words[0].contains("-"), !words[0].hasSuffix(":") { isCode = words[1] == "r-xp" }
            if isCode, words.first == "Rss:" { sum += Int(words[1]) ?? 0 }
        }
        return sum
    }
}
