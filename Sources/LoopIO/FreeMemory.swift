import CLinux

/// Releases memory that this process does not need at the moment.
package enum FreeMemory {
    /// Returns freed heap memory to the system (malloc_trim(3)) and unmaps the pages of mapped
    /// program files. Use it after a phase with high memory use, such as the start.
    ///
    /// It takes about a millisecond. The code that runs next takes about half a millisecond longer,
    /// until the pages it needs are mapped again. They are read from the page cache, not from disk,
    /// as long as the cache has room for them.
    package static func release() {
        malloc_trim(0)
        clinux_unmap_programs()
    }
}
