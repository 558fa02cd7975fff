import HandoffModel

/// A file or folder in an archive.
package struct TarEntry: Equatable, Sendable {
    /// The kinds of entries allowed in an archive.
    package enum Kind: Sendable {
        case file
        case folder
    }

    package let kind: Kind
    /// The path below the sent folder. Each component is a valid `FileName`.
    package let components: [[UInt8]]
    /// Bytes of the file; 0 for a folder.
    package let size: Int64
    /// Permissions, 0…0o777.
    package let mode: UInt32
    /// The modification time in seconds since 1970.
    let modified: Int64

    /// The path, with slashes.
    var path: [UInt8] { Self.path(of: components) }

    /// Joins the components with slashes.
    static func path(of components: [[UInt8]]) -> [UInt8] { Array(components.joined(separator: [UInt8(ascii: "/")])) }

    /// Joins the components with slashes, escaped for display.
    static func text(of components: [[UInt8]]) -> String {
        components.map { VisibleText.escape(String(decoding: $0, as: UTF8.self)) }.joined(separator: "/")
    }
}

extension TarEntry {
    /// Returns the headers of the entry: one block, preceded by an extended header if needed.
    ///
    /// An extended header is needed for paths that are long or not ASCII, sizes of 8 GiB or more, and
    /// times before 1970 or after 2242.
    package func encoded() -> [UInt8] {
        let isFolder = kind == .folder
        let full = isFolder ? path + [UInt8(ascii: "/")] : path
        var records: [UInt8] = []
        var (prefix, name): ([UInt8], [UInt8]) = ([], [])
        if let split = Self.split(full) {
            (prefix, name) = split
        } else {
            records += Self.record("path", full)
            // For programs that do not support extended headers.
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

    /// Splits a path into prefix and name. Returns nil if it does not fit.
    private static func split(_ path: [UInt8]) -> (prefix: [UInt8], name: [UInt8])? {
        guard path.allSatisfy({ $0 < 0x80 }) else { return nil }
        if path.count <= 100 { return ([], path) }
        // The slash that ends a folder's path does not count, because the name must not be empty.
        let candidates = path.indices.dropLast().filter { path[$0] == UInt8(ascii: "/") && $0 <= 155 && $0 > 0 }
        guard let slash = candidates.first(where: { path.count - $0 - 1 <= 100 }) else { return nil }
        return (Array(path[..<slash]), Array(path[(slash + 1)...]))
    }

    /// Returns a record of an extended header: its own length in digits, a space, key=value, and a
    /// line feed.
    private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
        let rest = [UInt8(ascii: " ")] + Array(key.utf8) + [UInt8(ascii: "=")] + value + [UInt8(ascii: "\n")]
        var length = rest.count
        // The length includes its own digits, which may increase it.
        while String(length).utf8.count + rest.count != length { length = String(length).utf8.count + rest.count }
        return Array(String(length).utf8) + rest
    }
}
