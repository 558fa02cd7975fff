import CLinux

/// Memory settings of programs whose only work is transfers.
package enum TransferMemory {
    /// Makes the allocator keep freed memory for reuse. Call it when a transfer starts.
    package static func keep() {
        clinux_keep_freed_memory()
    }
}
