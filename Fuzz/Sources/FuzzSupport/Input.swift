/// The input of a fuzzer: bytes, some of which may be taken from the front to control a target.
package struct Input {
    /// The remaining bytes.
    package private(set) var bytes: ArraySlice<UInt8>

    /// The bytes that libFuzzer passes. They are valid only during the call.
    package init(_ pointer: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = Array(UnsafeBufferPointer(start: pointer, count: count))[...]
    }

    /// Bytes that a target derived from its input.
    package init(bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// Takes one byte. Returns 0 at the end.
    package mutating func byte() -> UInt8 {
        bytes.popFirst() ?? 0
    }

    /// Takes this many bytes, or as many as remain.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        return Array(taken)
    }

    /// True when no bytes remain.
    package var isEmpty: Bool { bytes.isEmpty }

    /// All remaining bytes.
    package var rest: [UInt8] { Array(bytes) }

    /// Returns the remaining bytes in pieces of `size` bytes, or in one piece for 0.
    package func pieces(of size: UInt8) -> [[UInt8]] {
        guard size > 0 else { return [rest] }
        var pieces: [[UInt8]] = []
        var left = bytes
        while !left.isEmpty {
            pieces.append(Array(left.prefix(Int(size))))
            left = left.dropFirst(Int(size))
        }
        return pieces
    }
}

/// Stops the run with a report if an invariant does not hold for an input.
package func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    // Not `precondition`, which prints nothing in a release build.
    guard condition else { fatalError(message()) }
}
