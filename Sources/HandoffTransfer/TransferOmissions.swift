import HandoffModel

/// The entries of a folder that are not transferred: their number, and the names of the first ones.
package struct TransferOmissions: Hashable, Sendable {
    /// The number of omitted entries. An omitted folder counts as one, regardless of its content.
    package private(set) var count: Int64 = 0
    /// The path below the sent folder and the reason, for each of the first entries. Safe to
    /// display.
    package private(set) var lines: [String] = []

    /// The maximum number of lines.
    static let maxLines = 64
    /// The maximum bytes of one line. Even with every byte escaped, all lines fit into one frame.
    static let maxLine = 256

    /// No omissions.
    package static let none = TransferOmissions()

    private init() {}

    /// Creates the omissions reported by the other device. Escapes the lines for display.
    /// - Returns: nil if the count is out of range, or the lines exceed a limit.
    init?(reported count: Int64, lines: [String]) {
        guard (Int64(lines.count)...TransferLimits.size).contains(count), lines.count <= Self.maxLines,
            lines.allSatisfy({ $0.utf8.count <= Self.maxLine })
        else { return nil }
        self.count = count
        self.lines = lines.map(VisibleText.escape)
    }

    /// Adds one entry.
    /// - Parameter line: must be safe to display.
    mutating func add(_ line: String) {
        count += 1
        if lines.count < Self.maxLines { lines.append(line.prefix(utf8Count: Self.maxLine)) }
    }

    package var isEmpty: Bool { count == 0 }

    /// The count, and up to three of the names: `2 entries are missing: a (…), b (…)`.
    package var summary: String {
        let shown = lines.prefix(3).joined(separator: "; ")
        let more = count > Int64(min(lines.count, 3)) && !shown.isEmpty ? "; …" : ""
        return (count == 1 ? "1 entry is missing" : "\(count) entries are missing")
            + (shown.isEmpty ? "" : ": \(shown)\(more)")
    }
}
