/// Formats the two columns of a help text.
package enum HelpColumns {
    /// The maximum width of the left column. A longer left side gets its own line.
    private static let maxWidth = 26

    /// Returns a line for each pair, without a newline at the end.
    package static func text(_ rows: [(left: String, right: String)]) -> String {
        let width = rows.map(\.left.count).filter { $0 <= maxWidth }.max() ?? maxWidth
        return rows.map { row in
            let gap = String(repeating: " ", count: max(0, width - row.left.count))
            return row.left.count <= width
                ? "  \(row.left)\(gap)  \(row.right)"
                : "  \(row.left)\n  \(String(repeating: " ", count: width))  \(row.right)"
        }.joined(separator: "\n")
    }
}
