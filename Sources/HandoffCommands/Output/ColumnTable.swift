/// Rows of text in aligned columns.
package struct ColumnTable {
    /// The space between two columns.
    private static let gap = "  "

    private let header: [String]
    private var rows: [[String]] = []

    /// Creates a table with these headings.
    package init(_ header: [String]) {
        self.header = header
    }

    /// Adds a row with one cell per heading and no control characters.
    package mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The minimum width of a column in a narrow table, unless its heading is wider.
    private static let minWidth = 8

    /// Returns the lines of the table, headings first, without trailing spaces. Omits columns that
    /// are empty in all rows.
    /// - Parameter columns: the width of the terminal; the widest columns are truncated until the
    ///   table fits. Nil does not truncate.
    package func lines(fitting columns: Int? = nil) -> [String] {
        let used = header.indices.filter { column in
            rows.contains { column < $0.count && !$0[column].isEmpty }
        }
        var widths = used.map { column in
            ([header] + rows).map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
        }
        if let columns {
            let least = used.map { max(Self.minWidth, DisplayWidth.of(header[$0])) }
            var excess = widths.reduce(0, +) + Self.gap.count * max(0, widths.count - 1) - columns
            while excess > 0,
                let widest = widths.indices.filter({ widths[$0] > least[$0] }).max(by: { widths[$0] < widths[$1] })
            {
                widths[widest] -= 1
                excess -= 1
            }
        }
        return ([header] + rows).map { row in
            var line = ""
            for (column, width) in zip(used, widths) {
                let cell = DisplayWidth.truncate(column < row.count ? row[column] : "", to: width)
                line += cell + String(repeating: " ", count: max(0, width - DisplayWidth.of(cell))) + Self.gap
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    /// Formats labels and values without a heading: `port  24863`. Further lines of a value are
    /// aligned with its first.
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

/// Measures text in terminal columns.
package enum DisplayWidth {
    /// Returns the number of columns on a terminal with a fixed-width font.
    package static func of(_ text: String) -> Int {
        // Fast path: most texts are printable ASCII and need no Unicode tables.
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            ? text.utf8.count : text.reduce(0) { $0 + width(of: $1) }
    }

    /// Returns the text, truncated to at most `columns` with an ellipsis.
    package static func truncate(_ text: String, to columns: Int) -> String {
        guard of(text) > columns else { return text }
        var result = ""
        var width = 1
        for character in text {
            width += Self.width(of: character)
            if width > columns { break }
            result.append(character)
        }
        return result + "…"
    }

    /// Returns the width of a grapheme cluster. Combining marks add nothing.
    private static func width(of character: Character) -> Int {
        var widest = 0
        for scalar in character.unicodeScalars {
            if scalar == "\u{FE0F}" { return 2 }  // selects the emoji form, which is wide
            widest = max(widest, width(of: scalar))
        }
        return widest
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.value < 0x1100 { return 1 }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// Wide and full-width blocks (Unicode Standard Annex 11). Emoji are detected by their own
    /// property.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]
}
