/// What a fuzzer gave: bytes, some of which may be taken from the front to steer a target.
package struct Input {
    /// What has not been taken.
    package private(set) var bytes: ArraySlice<UInt8>

    /// The bytes that libFuzzer passes; they live only for the call.
    package init(_ pointer: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = Array(UnsafeBufferPointer(start: pointer, count: count))[...]
    }

    /// Bytes that a target made of its input.
    package init(bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// Takes one byte; 0 at the end.
    package mutating func byte() -> UInt8 {
        bytes.popFirst() ?? 0
    }

    /// Takes so many bytes, or as many as there are.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        return Array(taken)
    }

    /// True when all has been taken.
    package var isEmpty: Bool { bytes.isEmpty }

    /// All that is left.
    package var rest: [UInt8] { Array(bytes) }

    /// What is left in pieces of `size` bytes; at once for 0.
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

/// Ends the run with a report when what must hold for every input does not.
package func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    // Not `precondition`, which says nothing in a release build.
    guard condition else { fatalError(message()) }
}
