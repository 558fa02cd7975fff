/// A file or folder in an archive.
package struct TarEntry: Equatable, Sendable {
    /// What may be in an archive.
    package enum Kind: Sendable {
        case file
        case folder
    }

    /// What it is.
    package let kind: Kind
    /// Its path below the folder that was sent, by components, each of which is a `FileName`.
    package let components: [[UInt8]]
    /// Bytes of the file; 0 for a folder.
    package let size: Int64
    /// Permissions, 0…0o777.
    package let mode: UInt32
    /// When it was changed, in seconds since 1970.
    package let modified: Int64

    /// An entry whose values were checked by whoever makes it.
    package init(kind: Kind, components: [[UInt8]], size: Int64, mode: UInt32, modified: Int64) {
        self.kind = kind
        self.components = components
        self.size = size
        self.mode = mode
        self.modified = modified
    }

    /// Its path, with slashes.
    var path: [UInt8] { Array(components.joined(separator: [UInt8(ascii: "/")])) }
}
