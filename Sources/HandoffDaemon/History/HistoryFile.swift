package import HandoffControl
import HandoffJSON
import HandoffModel
package import HandoffState
import LoopIO

/// The log of continuations in the state folder: a line of JSON for each entry, in a file that is followed by another one
/// when it is full; the former of the two is kept.
///
/// Blocks for as long as the disk does: to be used on a worker, one call at a time. A crash may cut the last line; such
/// lines are passed by when the file is read.
package final class HistoryFile: Sendable {
    /// Most bytes of a file.
    package static let longest = 1024 * 1024
    /// Most entries of a page.
    package static let pageSize = 256
    /// Most bytes of a text in an entry. Names of apps and reasons of failures are none of ours.
    package static let maxText = 256
    /// Most entries that are written at once: a quarter of a file, when each of them is as long as can be.
    package static let maxTogether = 32
    /// Most bytes of a line: four texts, of which each byte may be written as six, and what is around them.
    private static let maxLine = 8192

    private let folder: StateFolder
    /// The number of the last entry; nil before the files were read.
    private let last = Locked<Int?>(nil)

    package init(_ folder: StateFolder) {
        self.folder = folder
    }

    /// Adds entries under the next numbers, at most `maxTogether` of them, which a file has room for.
    ///
    /// - Returns: the entries as they were written.
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
        try folder.appendHistory(lines, limit: Self.longest)
        last.withLock { $0 = number }
        return written
    }

    /// The entries after a number, the oldest first; at most a page of them.
    package func page(after number: Int) throws(StateError) -> ControlLogPage {
        Self.page(after: number, of: try folder.readHistory(limit: Self.longest))
    }

    /// The same of the bytes of the files, the former one first.
    package static func page(after number: Int, of files: [[UInt8]]) -> ControlLogPage {
        var entries: [ControlLogEntry] = []
        for line in lines(files) {
            // Most lines of a full log are passed by for most pages, and reading them all would take the worker's time.
            if let early = leadingNumber(line), early <= number { continue }
            guard let entry = entry(line), entry.number > number else { continue }
            guard entries.count < pageSize else { return ControlLogPage(entries: entries, hasMore: true) }
            entries.append(entry)
        }
        return ControlLogPage(entries: entries, hasMore: false)
    }

    private func lastNumber() throws(StateError) -> Int {
        if let number = last.withLock({ $0 }) { return number }
        let files = try folder.readHistory(limit: Self.longest)
        return Self.lines(files).compactMap { Self.entry($0)?.number }.max() ?? 0
    }

    private static func lines(_ files: [[UInt8]]) -> [ArraySlice<UInt8>] {
        files.flatMap { $0.split(separator: UInt8(ascii: "\n")) }
    }

    /// The number with which a line begins that we have written; nil for one that begins in another way.
    private static func leadingNumber(_ line: ArraySlice<UInt8>) -> Int? {
        let start = Array(#"{"number":"#.utf8)
        guard line.starts(with: start) else { return nil }
        let digits = line.dropFirst(start.count).prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// The entry of a line; nil for one that is cut or none of ours.
    private static func entry(_ line: ArraySlice<UInt8>) -> ControlLogEntry? {
        guard line.count <= maxLine,
            let object = try? JSON(parsing: Array(line), limits: JSONLimits(bytes: maxLine)).object
        else { return nil }
        return try? ControlLogEntry(json: object)
    }
}
