/// A grid of characters to draw on; what is outside is ignored.
package struct Canvas {
    /// In characters.
    package let width: Int
    /// In lines.
    package let height: Int
    private var rows: [[Character]]

    /// An empty grid.
    package init(width: Int, height: Int) {
        self.width = max(width, 0)
        self.height = max(height, 0)
        rows = Array(repeating: Array(repeating: " ", count: self.width), count: self.height)
    }

    /// The character at a place.
    package subscript(column: Int, row: Int) -> Character {
        get { rows.indices.contains(row) && rows[row].indices.contains(column) ? rows[row][column] : " " }
        set {
            guard rows.indices.contains(row), rows[row].indices.contains(column) else { return }
            rows[row][column] = newValue
        }
    }

    /// Writes a text from a place to the right.
    package mutating func write(_ text: String, column: Int, row: Int) {
        for (offset, character) in text.enumerated() { self[column + offset, row] = character }
    }

    /// Draws a box with lines of text in it; the corner is at the top left.
    package mutating func box(_ lines: [String], column: Int, row: Int) {
        let inner = lines.map(\.count).max() ?? 0
        let bar = String(repeating: "─", count: inner + 2)
        write("╭" + bar + "╮", column: column, row: row)
        for (offset, line) in lines.enumerated() {
            write("│ " + line.padding(to: inner) + " │", column: column, row: row + offset + 1)
        }
        write("╰" + bar + "╯", column: column, row: row + lines.count + 1)
    }

    /// The lines, without spaces at their ends.
    package var lines: [String] {
        rows.map { row in
            guard let last = row.lastIndex(where: { $0 != " " }) else { return "" }
            return String(row[...last])
        }
    }

    /// The lines in a frame with a title.
    package func framed(_ title: String) -> [String] {
        let head = "┌─ " + String(title.prefix(max(width - 4, 0))) + " "
        return [head + String(repeating: "─", count: max(width + 1 - head.count, 0)) + "┐"]
            + rows.map { "│" + String($0) + "│" }
            + ["└" + String(repeating: "─", count: width) + "┘"]
    }
}
