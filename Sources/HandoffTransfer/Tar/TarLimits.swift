/// What unpacking an archive may cost.
package struct TarLimits: Sendable {
    /// Bytes of all files together.
    package var bytes: Int64
    /// Files and folders.
    package var entries: Int
    /// What the names of folders take in memory, about: they are kept until the end, for their modes and times.
    package var memory = 1 << 28

    package init(bytes: Int64, entries: Int) {
        self.bytes = bytes
        self.entries = entries
    }

    /// 1 TiB in a million files and folders: far above what anybody hands off, and still an end.
    package static let standard = TarLimits(bytes: 1 << 40, entries: 1_000_000)

    /// Bytes of a path; below the 4,096 that the kernel takes.
    static let path = 4000
    /// Folders in which an entry may be; each has an open descriptor while an archive is written.
    static let depth = 128
    /// Bytes of the extended header of one entry.
    static let extended = 65_536
}
