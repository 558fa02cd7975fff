import HandoffModel

/// Produces the archive of a folder in pieces, from its beginning or after the part that another
/// device has. Not to be used by two threads concurrently.
///
/// Two devices compare the beginning of an archive by a digest of its entries, in order. For each
/// entry it covers the type (one byte as in the archive) and the path, preceded by its length (u32,
/// big-endian). For a file it also covers the content, followed by its number of bytes (u64,
/// big-endian). Modes, times and the archive format are not included. Both devices compute it from
/// their disks.
package final class FolderArchive {
    /// A beginning of an archive. Its last entry may be an incomplete file.
    package struct Beginning: Equatable, Sendable {
        /// The number of files and folders.
        package var entries: Int64 = 0
        /// Bytes of the last entry; 0 if it is a folder.
        var lastBytes: Int64 = 0
    }

    private let writer: TarWriter
    private var parser = TarParser(limits: .unlimited)
    /// The part to compare; nil means everything.
    private let wanted: Beginning?
    private var hasher = SHA256Hasher()
    private var entry: TarEntry?
    /// The digest of the beginning, once all of it has been read.
    private var digest: ContentDigest?
    /// Bytes after the beginning that have been read but not returned.
    private var rest: [UInt8] = []

    /// The part compared so far.
    package private(set) var beginning = Beginning()
    /// The compared entries that are needed to continue: the folders and the last file.
    private(set) var kept: [TarEntry] = []
    /// Bytes of the compared entries in an archive.
    package private(set) var position: Int64 = 0
    /// Bytes of the compared files.
    package private(set) var bytes: Int64 = 0
    /// The compared entries that version control programs may run.
    private(set) var repositories = RepositoryMetadata()

    /// - Parameter wanted: the part that another device has; nil means everything on this device.
    init(_ writer: TarWriter, after wanted: Beginning?) {
        self.writer = writer
        self.wanted = wanted
        if wanted?.entries == 0 { complete() }
    }

    /// Reads the next piece of the beginning.
    /// - Returns: the digest of the beginning, once all of it has been read.
    /// - Throws: the errors of `TarWriter.next`.
    package func compare() throws(TransferFailure) -> ContentDigest? {
        guard digest == nil else { return digest }
        if let piece = try writer.next() { try take(piece) } else { complete() }
        return digest
    }

    /// Returns the next bytes of the archive after the compared beginning, or nil at the end.
    /// - Parameter limit: the approximate number of bytes.
    /// - Throws: the errors of `TarWriter.next`.
    package func next(limit: Int = 262_144) throws(TransferFailure) -> [UInt8]? {
        guard let wanted, wanted.entries > 0 else { return try writer.next(limit: limit) }
        if !kept.isEmpty {
            let headers = kept.flatMap { $0.encoded() }
            kept = []
            defer { rest = [] }
            return headers + rest
        }
        while let piece = try writer.next(limit: limit) {
            try take(piece)
            defer { rest = [] }
            if !rest.isEmpty { return rest }
        }
        return nil
    }

    /// The entries omitted so far.
    var omissions: TransferOmissions { writer.omissions }

    /// Bytes of the files read so far, without archive overhead.
    var contentBytes: Int64 { writer.contentBytes }

    /// Returns notes for the user about entries omitted since the last call.
    func takeNotes() -> [String] { writer.takeNotes() }

    private func complete() {
        if entry?.kind == .file { Self.add(UInt64(beginning.lastBytes), to: &hasher) }
        digest = hasher.digest()
    }

    private func take(_ piece: [UInt8]) throws(TransferFailure) {
        try parser.parse(piece) { (event) throws(TransferFailure) in
            switch event {
            case .entry(let next): begin(next)
            case .data(let bytes): append(bytes)
            case .endOfFile: end()
            case .end: rest += [UInt8](repeating: 0, count: TarBlock.size)
            }
        }
    }

    private func begin(_ next: TarEntry) {
        let last = entry
        entry = next
        if digest != nil { return rest += next.encoded() }
        if last?.kind == .file { Self.add(UInt64(beginning.lastBytes), to: &hasher) }
        // Only the last file can be continued.
        if let last = kept.last, last.kind == .file { kept.removeLast() }
        kept.append(next)
        _ = repositories.add(next)
        beginning = Beginning(entries: beginning.entries + 1)
        position += Int64(next.encoded().count)
        let path = next.path
        hasher.update([next.kind == .file ? TarBlock.Kind.file : TarBlock.Kind.folder])
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: path.count).bigEndian) { hasher.update($0) }
        hasher.update(path)
        if let wanted, beginning.entries == wanted.entries, wanted.lastBytes == 0 || next.size == 0 { complete() }
    }

    private func append(_ data: ArraySlice<UInt8>) {
        guard digest == nil else { return rest += data }
        var mine = data
        if let wanted, beginning.entries == wanted.entries {
            mine = data.prefix(Int(clamping: wanted.lastBytes - beginning.lastBytes))
        }
        hasher.update(mine)
        beginning.lastBytes += Int64(mine.count)
        bytes += Int64(mine.count)
        position += Int64(mine.count)
        guard let wanted, beginning.entries == wanted.entries else { return }
        // A file that is shorter here differs from the other device's, which the digest shows.
        guard beginning.lastBytes == min(wanted.lastBytes, entry?.size ?? 0) else { return }
        complete()
        rest += data.dropFirst(mine.count)
    }

    private func end() {
        let padding = TarBlock.padding(of: entry?.size ?? 0)
        if digest != nil { rest += [UInt8](repeating: 0, count: padding) } else { position += Int64(padding) }
    }

    private static func add(_ number: UInt64, to hasher: inout SHA256Hasher) {
        withUnsafeBytes(of: number.bigEndian) { hasher.update($0) }
    }
}
