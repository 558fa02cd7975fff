/// A piece of memory that goes back and forth between a file's thread and the loop.
///
/// Unchecked: at any time it belongs to one side, and it changes hands under the lock of `FileChannel`.
package final class FileBlock: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes of it mean something.
    package internal(set) var count = 0

    init(capacity: Int) {
        // A page's alignment, which is what direct I/O asks for at most.
        memory = .allocate(byteCount: capacity, alignment: 4096)
    }

    deinit {
        memory.deallocate()
    }

    /// How many bytes it has room for beyond those that it holds.
    var room: Int { memory.count - count }

    /// The room, for reading into it.
    var free: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: memory[count...]) }

    /// Lends its bytes for the time of the call, to C and to TLS.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Copies as many bytes as there is room for. Returns how many.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, room)
        guard taken > 0 else { return 0 }
        free.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        count += taken
        return taken
    }
}
