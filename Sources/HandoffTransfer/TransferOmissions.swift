import HandoffModel

/// Entries of a folder that are not transferred: how many, and the first of them by name.
package struct TransferOmissions: Hashable, Sendable {
    /// Entries that are left out. A folder counts once, whatever is in it.
    package private(set) var count: Int64 = 0
    /// Path below the sent folder and reason of the first entries, safe to show.
    package private(set) var lines: [String] = []

    /// Lines that are kept.
    static let maxLines = 64
    /// Bytes of one line: with every byte escaped, all lines still fit into one frame.
    static let maxLine = 256

    /// Nothing is left out.
    package static let none = TransferOmissions()

    private init() {}

    /// The report of the other device. Its lines are made safe to show.
    /// - Returns: nil for a count that is out of range, or more or longer lines than are sent.
    init?(reported count: Int64, lines: [String]) {
        guard (Int64(lines.count)...TransferLimits.size).contains(count), lines.count <= Self.maxLines,
            lines.allSatisfy({ $0.utf8.count <= Self.maxLine })
        else { return nil }
        self.count = count
        self.lines = lines.map(VisibleText.escape)
    }

    /// Adds one entry.
    /// - Parameter line: safe to show.
    mutating func add(_ line: String) {
        count += 1
        if lines.count < Self.maxLines { lines.append(line.prefix(utf8Count: Self.maxLine)) }
    }

    /// True if everything is transferred.
    package var isEmpty: Bool { count == 0 }

    /// The count in words, and up to three of the names: `2 entries are missing: a (…), b (…)`.
    package var summary: String {
        let shown = lines.prefix(3).joined(separator: "; ")
        let more = count > Int64(min(lines.count, 3)) && !shown.isEmpty ? "; …" : ""
        return (count == 1 ? "1 entry is missing" : "\(count) entries are missing")
            + (shown.isEmpty ? "" : ": \(shown)\(more)")
    }
}
