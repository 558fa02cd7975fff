/// How many columns of a terminal a text takes.
package enum DisplayWidth {
    /// The number of columns, as terminals with a fixed-width font count them.
    package static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    /// The text, cut to at most `columns` with an ellipsis when something is missing.
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

    /// The width of one character as a user sees it; marks that combine with it add nothing.
    private static func width(of character: Character) -> Int {
        var widest = 0
        for scalar in character.unicodeScalars {
            if scalar == "\u{FE0F}" { return 2 }  // asks for the emoji form, which is wide
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

    /// Blocks that are wide or full-width (Unicode Standard Annex 11); emoji are told by their own property.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]
}
