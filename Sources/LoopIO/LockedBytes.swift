import Glibc

/// Bytes in memory that is never written to swap space or a core dump. They are overwritten when
/// the last reference is released.
///
/// Unlike `SecretBytes`, it has pages of its own (mmap(2), mlock(2)), and there is no fallback
/// without locked memory.
package final class LockedBytes: Sendable {
    /// The number of bytes.
    package let count: Int
    /// Only the initialiser writes the memory, and it is unmapped once, in `deinit`.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer

    /// Copies bytes, at least one.
    ///
    /// - Returns: nil if the process may not lock more memory (RLIMIT_MEMLOCK).
    package init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty,
            let memory = mmap(
                nil, bytes.count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else { return nil }
        guard mlock(memory, bytes.count) == 0, madvise(memory, bytes.count, MADV_DONTDUMP) == 0 else {
            munmap(memory, bytes.count)
            return nil
        }
        self.memory = memory
        count = bytes.count
        UnsafeMutableRawBufferPointer(start: memory, count: count).copyBytes(from: bytes)
    }

    deinit {
        explicit_bzero(memory, count)
        munmap(memory, count)
    }

    /// The address of the memory, for tests of its properties.
    package var address: UInt { UInt(bitPattern: memory) }

    /// A copy of the bytes, in ordinary memory.
    package var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: memory, count: count)) }
}
