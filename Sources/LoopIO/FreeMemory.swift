import CLinux

/// Memory that this process has freed and the allocator still keeps.
package enum FreeMemory {
    /// Gives it back to the system (malloc_trim(3)), which takes a millisecond: after what needed much of it for a moment.
    package static func giveBack() {
        malloc_trim(0)
    }
}
