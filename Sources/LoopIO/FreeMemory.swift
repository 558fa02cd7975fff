import CLinux

/// Memory that this process does not need at the moment.
package enum FreeMemory {
    /// Gives back to the system what the allocator keeps of freed memory (malloc_trim(3)), and the pages of the programs' files that
    /// are mapped: after what needed much for a moment, such as the start.
    ///
    /// It takes a millisecond, and what runs next half of one, until the pages that it needs are mapped again. They come out of the
    /// kernel's cache, not off the disk, as long as there is room for them.
    package static func giveBack() {
        malloc_trim(0)
        clinux_forget_programs()
    }
}
