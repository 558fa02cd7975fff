import HandoffModel

/// Makes text of other devices fit for a notification: one line of bounded length, in which nothing is hidden, nothing turns
/// the direction of what is around it, and nothing is markup.
package enum NotificationText {
    /// The most characters, as people count them, of a title, a name or a reason.
    static let maxCharacters = 96
    /// The most Unicode scalars that one character may have: families of emoji have eleven, piles of accents any number.
    static let maxScalars = 16
    /// How many texts a list names, and how many characters of each.
    private static let maxListed = 4
    private static let maxListedCharacters = 40
    /// The most scalars that are looked at.
    static let maxRead = 4096

    /// The text in one line, without what cannot be seen; nil when nothing is left.
    package static func line(_ text: String, most: Int = maxCharacters) -> String? {
        var scalars = String.UnicodeScalarView()
        var isSpace = false
        for scalar in text.unicodeScalars.prefix(maxRead) {
            if scalar.properties.isWhitespace {
                // Line feeds too: what was two lines is two words.
                isSpace = true
                continue
            }
            guard !VisibleText.isHidden(scalar) else { continue }
            // An accent without a letter would land on what stands before this text, and a joiner alone is nothing.
            guard !scalars.isEmpty || !(scalar.properties.isGraphemeExtend || scalar.properties.isJoinControl) else {
                continue
            }
            if isSpace, !scalars.isEmpty { scalars.append(" ") }
            isSpace = false
            scalars.append(scalar)
        }
        var line = ""
        var count = 0
        for character in String(scalars) {
            guard count < most else { return isolated(line + "…") }
            count += 1
            line.unicodeScalars.append(contentsOf: character.unicodeScalars.prefix(maxScalars))
        }
        return line.isEmpty ? nil : isolated(line)
    }

    /// A few texts as one: "a, b and c", and a number for those above the limit.
    ///
    /// - Parameter texts: results of `line`, of which each is cut to a part of a line.
    static func list(_ texts: [String]) -> String {
        let shown = texts.prefix(texts.count > maxListed ? maxListed - 1 : maxListed)
            .map { line($0, most: maxListedCharacters) ?? "" }
        let rest = texts.count - shown.count
        guard let last = rest > 0 ? "\(rest) more" : shown.last else { return "" }
        let front = rest > 0 ? shown[...] : shown.dropLast()
        return front.isEmpty ? last : "\(front.joined(separator: ", ")) and \(last)"
    }

    /// The text as markup that shows it, and nothing else.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// The text with its first letter in upper case: reasons are fragments, and stand alone here.
    static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Text of scripts that are written from right to left, set apart from what is around it (FSI and PDI of UAX #9).
    private static func isolated(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: isRightToLeft) else { return line }
        return "\u{2068}\(line)\u{2069}"
    }

    /// The blocks of Unicode that are reserved for such scripts.
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}
