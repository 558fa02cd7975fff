package import HandoffControl
import HandoffJSON
import HandoffModel
package import HandoffState
import LoopIO

/// The continuation log in the state folder: one line of JSON for each entry. A full file is
/// replaced by a new one. The previous file is kept.
///
/// Blocks while the disk does. Use it on a worker, one call at a time. A crash may truncate the
/// last line. Truncated lines are skipped when the file is read.
package final class HistoryFile: Sendable {
    /// The maximum size of a file in bytes.
    package static let maxBytes = 1024 * 1024
    /// The maximum number of entries of a page.
    package static let pageSize = 256
    /// The maximum length of a text in bytes. Names of apps and reasons of failures come from other
    /// programs.
    package static let maxText = 256
    /// The maximum number of entries in one write: a quarter of a file if all have the maximum
    /// length.
    package static let maxTogether = 32
    /// The maximum length of a line in bytes: four texts, of which each byte may be escaped as six,
    /// and the rest of the object.
    private static let maxLine = 8192

    private let folder: StateFolder
    /// The number of the last entry; nil until the files have been read.
    private let last = Locked<Int?>(nil)

    package init(_ folder: StateFolder) {
        self.folder = folder
    }

    /// Appends at most `maxTogether` entries with the next numbers.
    ///
    /// - Returns: the entries as written.
    package func append(_ entries: [ControlLogEntry]) throws(StateError) -> [ControlLogEntry] {
        var number = try lastNumber()
        var lines: [UInt8] = []
        let written = entries.map { entry in
            var entry = entry
            if number < .max { number += 1 }
            entry.number = number
            entry.type = entry.type?.prefix(utf8Count: Self.maxText)
            entry.app = entry.app?.prefix(utf8Count: Self.maxText)
            entry.deviceName = entry.deviceName.prefix(utf8Count: Self.maxText)
            entry.outcome = entry.outcome.prefix(utf8Count: Self.maxText)
            lines += JSON.object(entry.json).encoded() + [UInt8(ascii: "\n")]
            return entry
        }
        try folder.appendHistory(lines, limit: Self.maxBytes)
        last.withLock { $0 = number }
        return written
    }

    /// Returns the entries after a number, oldest first, at most one page.
    package func page(after number: Int) throws(StateError) -> ControlLogPage {
        Self.page(after: number, of: try folder.readHistory(limit: Self.maxBytes))
    }

    /// Returns a page from the bytes of the files, the previous file first.
    package static func page(after number: Int, of files: [[UInt8]]) -> ControlLogPage {
        var entries: [ControlLogEntry] = []
        for line in lines(files) {
            // For most pages, most lines of a full log are skipped. To parse them all would take
            // too long.
            if let early = leadingNumber(line), early <= number { continue }
            guard let entry = entry(line), entry.number > number else { continue }
            guard entries.count < pageSize else { return ControlLogPage(entries: entries, hasMore: true) }
            entries.append(entry)
        }
        return ControlLogPage(entries: entries, hasMore: false)
    }

    private func lastNumber() throws(StateError) -> Int {
        if let number = last.withLock({ $0 }) { return number }
        let files = try folder.readHistory(limit: Self.maxBytes)
        return Self.lines(files).compactMap { Self.entry($0)?.number }.max() ?? 0
    }

    private static func lines(_ files: [[UInt8]]) -> [ArraySlice<UInt8>] {
        files.flatMap { $0.split(separator: UInt8(ascii: "\n")) }
    }

    /// The number at the beginning of a line that this program has written; nil for any other line.
    private static func leadingNumber(_ line: ArraySlice<UInt8>) -> Int? {
        let start = Array(#"{"number":"#.utf8)
        guard line.starts(with: start) else { return nil }
        let digits = line.dropFirst(start.count).prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// The entry of a line; nil if the line is truncated or invalid.
    private static func entry(_ line: ArraySlice<UInt8>) -> ControlLogEntry? {
        guard line.count <= maxLine,
            let object = try? JSON(parsing: Array(line), limits: JSONLimits(bytes: maxLine)).object
        else { return nil }
        return try? ControlLogEntry(json: object)
    }
}
