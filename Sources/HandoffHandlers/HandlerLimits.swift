/// Limits for the files of handlers. Packages, users and sandboxes write these files, and all are
/// read after every change.
package enum HandlerLimits {
    /// The maximum size of a file, in bytes; a desktop entry with all its translations has about 20
    /// KiB.
    package static let fileBytes = 64 * 1024
    /// The maximum number of files to read in all folders; a desktop has some hundreds.
    package static let files = 4096
    /// The maximum number of names to read in one folder, of any files; the rest are ignored.
    package static let names = 4 * files
    /// The maximum depth of folders below `applications`.
    package static let depth = 4
    /// The maximum length of a displayed name, in bytes.
    package static let name = 1024
    /// The maximum length of an icon's name or path, in bytes: the limit of notifications and menus.
    package static let icon = 256
    /// The maximum length of an app's id, in bytes: the limit of file names.
    package static let identifier = 255
    /// The maximum number of types per app.
    package static let types = 256
    /// The maximum number of web domains per app.
    package static let domains = 256
    /// The maximum number of words in the command of a manifest.
    package static let words = 64
    /// The maximum length of such a word, in bytes.
    package static let word = 4096
}
