import HandoffModel

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
    var path: [UInt8] { Self.path(of: components) }

    /// A path by its components, with slashes.
    static func path(of components: [[UInt8]]) -> [UInt8] { Array(components.joined(separator: [UInt8(ascii: "/")])) }

    /// The same for people.
    static func text(of components: [[UInt8]]) -> String {
        components.map { VisibleText.escape(String(decoding: $0, as: UTF8.self)) }.joined(separator: "/")
    }
}

extension TarEntry {
    /// The headers of the entry: one block, and an extended header before it for what does not fit there.
    ///
    /// Extended are paths that are long or not ASCII, sizes from 8 GiB, and times before 1970 or after 2242.
    package func encoded() -> [UInt8] {
        let isFolder = kind == .folder
        let full = isFolder ? path + [UInt8(ascii: "/")] : path
        var records: [UInt8] = []
        var (prefix, name): ([UInt8], [UInt8]) = ([], [])
        if let split = Self.split(full) {
            (prefix, name) = split
        } else {
            records += Self.record("path", full)
            // For programs that do not know extended headers.
            name = Array(full.suffix(100).drop { $0 & 0xC0 == 0x80 })
        }
        if size > TarBlock.maxNumber { records += Self.record("size", Array(String(size).utf8)) }
        if !(0...TarBlock.maxNumber).contains(modified) {
            records += Self.record("mtime", Array(String(modified).utf8))
        }
        var bytes: [UInt8] = []
        if !records.isEmpty {
            let block = TarBlock(
                kind: TarBlock.Kind.extended, name: Array("PaxHeaders/entry".utf8), mode: 0o644,
                size: Int64(records.count), modified: 0)
            bytes += block.bytes + records
            bytes += [UInt8](repeating: 0, count: TarBlock.padding(of: Int64(records.count)))
        }
        let block = TarBlock(
            kind: isFolder ? TarBlock.Kind.folder : TarBlock.Kind.file, name: name, prefix: prefix, mode: mode,
            size: size, modified: modified)
        return bytes + block.bytes
    }

    /// Prefix and name of a path that fits into them; nil for one that does not.
    private static func split(_ path: [UInt8]) -> (prefix: [UInt8], name: [UInt8])? {
        guard path.allSatisfy({ $0 < 0x80 }) else { return nil }
        if path.count <= 100 { return ([], path) }
        // Not the slash at the end of a folder's path: the name must not be empty.
        let candidates = path.indices.dropLast().filter { path[$0] == UInt8(ascii: "/") && $0 <= 155 && $0 > 0 }
        guard let slash = candidates.first(where: { path.count - $0 - 1 <= 100 }) else { return nil }
        return (Array(path[..<slash]), Array(path[(slash + 1)...]))
    }

    /// A record of an extended header: its own length in digits, a space, key=value, and a line feed.
    private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
        let rest = [UInt8(ascii: " ")] + Array(key.utf8) + [UInt8(ascii: "=")] + value + [UInt8(ascii: "\n")]
        var length = rest.count
        // The digits count too, and can make the number longer.
        while String(length).utf8.count + rest.count != length { length = String(length).utf8.count + rest.count }
        return Array(String(length).utf8) + rest
    }
}
