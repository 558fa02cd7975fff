/// Rows of text in aligned columns.
package struct ColumnTable {
    /// Columns between two neighbours.
    private static let gap = "  "

    private let header: [String]
    private var rows: [[String]] = []

    /// A table with a heading above each column.
    package init(_ header: [String]) {
        self.header = header
    }

    /// Adds a row; it should have as many cells as there are headings, and no control characters.
    package mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// The lines of the table, heading first, without trailing spaces. A column in which no row has anything is left
    /// out together with its heading.
    package var lines: [String] {
        let used = header.indices.filter { column in
            rows.contains { column < $0.count && !$0[column].isEmpty }
        }
        let widths = used.map { column in
            ([header] + rows).map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
        }
        return ([header] + rows).map { row in
            var line = ""
            for (column, width) in zip(used, widths) {
                let cell = column < row.count ? row[column] : ""
                line += cell + String(repeating: " ", count: max(0, width - DisplayWidth.of(cell))) + Self.gap
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    /// Labels and values, without a heading: `port  24863`. Later lines of a value are aligned below its first.
    package static func fields(_ pairs: [(label: String, value: String)]) -> String {
        let width = pairs.map { DisplayWidth.of($0.label) }.max() ?? 0
        let margin = String(repeating: " ", count: width) + gap
        return pairs.map { pair in
            let label = pair.label + String(repeating: " ", count: width - DisplayWidth.of(pair.label)) + gap
            let lines = pair.value.split(separator: "\n", omittingEmptySubsequences: false)
            return label + lines.joined(separator: "\n\(margin)") + "\n"
        }.joined()
    }
}
