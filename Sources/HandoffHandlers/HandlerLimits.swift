/// What the files of handlers may cost: packages, users and sandboxes write them, and all are read at every change.
package enum HandlerLimits {
    /// The longest file, in bytes; a desktop entry with all its translations has some 20 KiB.
    package static let fileBytes = 64 * 1024
    /// The most files that are read, of all folders together; a desktop has some hundreds.
    package static let files = 4096
    /// The most names of one folder that are looked at, of whatever files; above it some are not seen.
    package static let names = 4 * files
    /// The deepest folder below `applications` that is looked into.
    package static let depth = 4
    /// Bytes of a name that is shown.
    package static let name = 1024
    /// Bytes of an app's id: what a file's name can have.
    package static let identifier = 255
    /// Types that one app may declare.
    package static let types = 256
    /// Web domains that one app may claim.
    package static let domains = 256
    /// Words of the command of a manifest.
    package static let words = 64
    /// Bytes of one of these words.
    package static let word = 4096
}
