/// A memory block that is passed back and forth between a file's thread and the loop.
///
/// Unchecked: at any time it belongs to one side. Ownership changes under the lock of
/// `FileChannel`.
package final class FileBlock: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of valid bytes.
    package internal(set) var count = 0

    init(capacity: Int) {
        // Page alignment, the maximum that direct I/O requires.
        memory = .allocate(byteCount: capacity, alignment: 4096)
    }

    deinit {
        memory.deallocate()
    }

    /// The number of free bytes.
    var room: Int { memory.count - count }

    /// The free part of the block, to read into.
    var free: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: memory[count...]) }

    /// Calls `body` with the valid bytes, which it may use only during the call.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Copies as many bytes as fit. Returns their number.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, room)
        guard taken > 0 else { return 0 }
        free.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        count += taken
        return taken
    }
}
