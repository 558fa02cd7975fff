import CLinux

/// Memory of programs that do nothing else than transfers.
package enum TransferMemory {
    /// Keeps what is freed for the next piece of a content. Call it when a transfer begins.
    package static func keep() {
        clinux_keep_freed_memory()
    }
}
