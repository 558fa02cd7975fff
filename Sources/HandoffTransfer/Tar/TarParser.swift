import HandoffModel

/// An incremental parser of archives, without I/O, for input in any pieces. It accepts only regular
/// files and folders.
///
/// It accepts only the format that `TarWriter` writes. Other dialects of tar could be interpreted
/// differently by a check and by the code that follows it.
package struct TarParser: Sendable {
    /// The meaning of the next bytes.
    package enum Event: Equatable, Sendable {
        /// The start of a file or folder.
        case entry(TarEntry)
        /// Bytes of the current file.
        case data(ArraySlice<UInt8>)
        /// The end of the current file.
        case endOfFile
        /// One of the two zero blocks at the end.
        case end
    }

    private enum State {
        case header
        /// Collecting an extended header of this size, padding included.
        case extended(size: Int, padded: Int)
        case data(left: Int64, padding: Int)
        case padding(Int)
        /// One zero block has been read.
        case ending
        /// Both zero blocks have been read.
        case ended
    }

    private let limits: TarLimits
    private var state = State.header
    /// The collected start of a block or an extended header.
    private var collected: [UInt8] = []
    private var extended: PaxRecords?
    private var entries = 0
    /// Total size of the files announced so far.
    private(set) var bytes: Int64 = 0
    /// Bytes of the first file that the archive lacks because they were received earlier.
    private var fileOffset: Int64 = 0

    package init(limits: TarLimits = .standard) {
        self.limits = limits
    }

    /// Continues an earlier archive. Its entries and bytes count towards the limits. The first file
    /// lacks its first `fileOffset` bytes.
    mutating func resume(entries: Int64, bytes: Int64, fileOffset: Int64) {
        self.entries = Int(clamping: entries)
        self.bytes = bytes
        self.fileOffset = fileOffset
    }

    /// Parses bytes and passes events to `handle`.
    /// - Throws: `unsafe`, `tooLarge` or `malformed`, and the errors of `handle`. Do not call it
    ///   again after an error.
    package mutating func parse(
        _ bytes: [UInt8], handle: (Event) throws(TransferFailure) -> Void
    ) throws(TransferFailure) {
        var left = bytes[...]
        while !left.isEmpty {
            switch state {
            case .header, .ending, .ended:
                guard let block = collect(TarBlock.size, from: &left) else { return }
                try take(TarBlock(block), handle)
            case .extended(let size, let padded):
                guard let block = collect(padded, from: &left) else { return }
                extended = try PaxRecords(block[..<size])
                state = .header
            case .data(let size, let padding):
                let piece = left.prefix(Int(min(Int64(left.count), size)))
                left = left.dropFirst(piece.count)
                try handle(.data(piece))
                let rest = size &- Int64(piece.count)
                if rest == 0 {
                    try handle(.endOfFile)
                    state = padding == 0 ? .header : .padding(padding)
                } else {
                    state = .data(left: rest, padding: padding)
                }
            case .padding(let size):
                let count = min(left.count, size)
                left = left.dropFirst(count)
                state = count == size ? .header : .padding(size &- count)
            }
        }
    }

    /// Checks that the archive is complete.
    /// - Throws: `malformed` if it is truncated.
    package func finish() throws(TransferFailure) {
        guard case .ended = state, collected.isEmpty else { throw .malformed("the folder's archive is truncated") }
    }

    /// Collects `size` bytes. Returns nil if more are needed.
    private mutating func collect(_ size: Int, from left: inout ArraySlice<UInt8>) -> [UInt8]? {
        let piece = left.prefix(size &- collected.count)
        collected += piece
        left = left.dropFirst(piece.count)
        guard collected.count == size else { return nil }
        defer { collected = [] }
        return collected
    }

    private mutating func take(
        _ block: TarBlock, _ handle: (Event) throws(TransferFailure) -> Void
    ) throws(TransferFailure) {
        if block.isZero {
            guard extended == nil else { throw .malformed("the folder's archive ends within an entry") }
            if case .header = state { state = .ending } else { state = .ended }
            return try handle(.end)
        }
        guard case .header = state else { throw .malformed("data after the end of the folder archive") }
        guard block.isValid else { throw .malformed("a header of the folder's archive is damaged") }
        guard let size = block.number(TarBlock.Field.size) else {
            throw .malformed("an invalid size in the folder's archive")
        }
        switch block.kind {
        case TarBlock.Kind.extended:
            guard extended == nil else { throw .malformed("two extended headers in the folder's archive") }
            guard size > 0, size <= TarLimits.extended else {
                throw TransferFailure(.tooLarge, "an extended header of the folder's archive has \(size) bytes")
            }
            state = .extended(size: Int(size), padded: Int(size) &+ TarBlock.padding(of: size))
        case TarBlock.Kind.file, TarBlock.Kind.folder:
            let entry = try entry(block, size: size)
            extended = nil
            try count(entry)
            try handle(.entry(entry))
            guard entry.kind == .file else { return }
            let padding = TarBlock.padding(of: entry.size)
            let left = entry.size &- fileOffset
            fileOffset = 0
            guard left >= 0 else { throw .malformed("a file is shorter than its kept part") }
            if left == 0 { try handle(.endOfFile) }
            if left > 0 {
                state = .data(left: left, padding: padding)
            } else if padding > 0 {
                state = .padding(padding)
            }
        case UInt8(ascii: "1")...UInt8(ascii: "4"), UInt8(ascii: "6"):
            let path = VisibleText.escape(String(decoding: extended?.path ?? block.path, as: UTF8.self))
            throw TransferFailure(
                .unsafe, "the folder contains a link, device or pipe, which is never received: \(path)")
        default:
            throw TransferFailure(.unsafe, "the folder's archive contains an entry that is neither a file nor a folder")
        }
    }

    private func entry(_ block: TarBlock, size: Int64) throws(TransferFailure) -> TarEntry {
        let kind: TarEntry.Kind = block.kind == TarBlock.Kind.folder ? .folder : .file
        let size = extended?.size ?? size
        guard (0...TransferLimits.size).contains(size), kind == .file || size == 0 else {
            throw .malformed("an invalid size in the folder's archive")
        }
        guard let mode = block.number(TarBlock.Field.mode), let own = block.number(TarBlock.Field.modified) else {
            throw .malformed("an invalid mode or time in the folder's archive")
        }
        return TarEntry(
            kind: kind, components: try Self.components(extended?.path ?? block.path, kind: kind), size: size,
            mode: UInt32(truncatingIfNeeded: mode & 0o777), modified: extended?.modified ?? own)
    }

    private mutating func count(_ entry: TarEntry) throws(TransferFailure) {
        entries &+= 1
        let (sum, overflow) = bytes.addingReportingOverflow(entry.size)
        guard entries <= limits.entries, !overflow, sum <= limits.bytes else {
            throw TransferFailure(
                .tooLarge, "the folder has more than \(limits.entries) entries or \(limits.bytes) bytes")
        }
        bytes = sum
    }

    /// Splits a path into checked components.
    private static func components(_ path: [UInt8], kind: TarEntry.Kind) throws(TransferFailure) -> [[UInt8]] {
        let slash = UInt8(ascii: "/")
        var path = path[...]
        if kind == .folder, path.last == slash { path = path.dropLast() }
        guard path.count <= TarLimits.path else { throw TransferFailure(.tooLarge, "a path in the folder is too long") }
        let components = path.split(separator: slash, omittingEmptySubsequences: false)
        guard components.count <= TarLimits.depth else {
            throw TransferFailure(.tooLarge, "the folder has more than \(TarLimits.depth) levels of folders")
        }
        for component in components {
            guard let problem = FileName.problem(component) else { continue }
            let text = VisibleText.escape(String(decoding: path, as: UTF8.self))
            throw TransferFailure(.unsafe, "the folder contains the path '\(text)', which is invalid: \(problem)")
        }
        return components.map { Array($0) }
    }
}

/// Limits for unpacking an archive.
package struct TarLimits: Sendable {
    /// The maximum total size of all files in bytes.
    package var bytes: Int64
    /// The maximum number of files and folders.
    package var entries: Int
    /// The approximate memory for the names of folders, which are kept until the end for modes and
    /// times.
    var memory = 1 << 28

    package init(bytes: Int64, entries: Int) {
        self.bytes = bytes
        self.entries = entries
    }

    /// For archives created on this device.
    static let unlimited = TarLimits(bytes: .max, entries: .max)

    /// 1 TiB in a million files and folders: a bound far above any expected use.
    static let standard = TarLimits(bytes: 1 << 40, entries: 1_000_000)

    /// The maximum bytes of a path, below the kernel's limit of 4,096.
    static let path = 4000
    /// The maximum depth of an entry. Each level uses one open descriptor while an archive is
    /// written.
    static let depth = 128
    /// The maximum bytes of an entry's extended header.
    static let extended = 65_536
}
