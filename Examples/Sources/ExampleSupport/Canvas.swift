/// A grid of characters to draw on. Drawing outside of it has no effect.
package struct Canvas {
    /// The width in characters.
    package let width: Int
    /// The height in lines.
    package let height: Int
    private var rows: [[Character]]

    /// Creates an empty grid.
    package init(width: Int, height: Int) {
        self.width = max(width, 0)
        self.height = max(height, 0)
        rows = Array(repeating: Array(repeating: " ", count: self.width), count: self.height)
    }

    /// The character at a position.
    package subscript(column: Int, row: Int) -> Character {
        get { rows.indices.contains(row) && rows[row].indices.contains(column) ? rows[row][column] : " " }
        set {
            guard rows.indices.contains(row), rows[row].indices.contains(column) else { return }
            rows[row][column] = newValue
        }
    }

    /// Writes a text to the right of a position.
    package mutating func write(_ text: String, column: Int, row: Int) {
        for (offset, character) in text.enumerated() { self[column + offset, row] = character }
    }

    /// Draws a box around lines of text. The position is its top left corner.
    package mutating func box(_ lines: [String], column: Int, row: Int) {
        let inner = lines.map(\.count).max() ?? 0
        let bar = String(repeating: "─", count: inner + 2)
        write("╭" + bar + "╮", column: column, row: row)
        for (offset, line) in lines.enumerated() {
            write("│ " + line.padding(to: inner) + " │", column: column, row: row + offset + 1)
        }
        write("╰" + bar + "╯", column: column, row: row + lines.count + 1)
    }

    /// The lines, without trailing spaces.
    package var lines: [String] {
        rows.map { row in
            guard let last = row.lastIndex(where: { $0 != " " }) else { return "" }
            return String(row[...last])
        }
    }

    /// Returns the lines in a frame with a title.
    package func framed(_ title: String) -> [String] {
        let head = "┌─ " + String(title.prefix(max(width - 4, 0))) + " "
        return [head + String(repeating: "─", count: max(width + 1 - head.count, 0)) + "┐"]
            + rows.map { "│" + String($0) + "│" }
            + ["└" + String(repeating: "─", count: width) + "┘"]
    }
}
