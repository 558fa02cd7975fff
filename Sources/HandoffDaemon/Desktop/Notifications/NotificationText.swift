import HandoffHandlers
import HandoffModel

/// Sanitizes text from other devices for notifications: one line of limited length, without hidden
/// characters, markup or effects on the direction of adjacent text.
package enum NotificationText {
    /// The maximum number of user-perceived characters in a title, a name or a reason.
    static let maxCharacters = 96
    /// The maximum number of Unicode scalars in one character. Family emoji have eleven; stacked
    /// accents are unlimited.
    static let maxScalars = 16
    /// The maximum number of texts in a list, and of characters in each.
    private static let maxListed = 4
    private static let maxListedCharacters = 40
    /// The maximum number of scalars to read.
    static let maxRead = 4096

    /// Returns the text in one line, without invisible characters; nil if nothing remains.
    package static func line(_ text: String, limit: Int = maxCharacters) -> String? {
        var scalars = String.UnicodeScalarView()
        var isSpace = false
        for scalar in text.unicodeScalars.prefix(maxRead) {
            if scalar.properties.isWhitespace {
                // Line feeds are spaces, too.
                isSpace = true
                continue
            }
            guard !VisibleText.isHidden(scalar) else { continue }
            // A leading accent would attach to the preceding text, and a leading joiner has no
            // meaning.
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
            guard count < limit else { return isolated(line + "…") }
            count += 1
            line.unicodeScalars.append(contentsOf: character.unicodeScalars.prefix(maxScalars))
        }
        return line.isEmpty ? nil : isolated(line)
    }

    /// Joins a few texts: "a, b and c", with the number of those above the limit.
    ///
    /// - Parameter texts: Results of `line`, at least one; each is shortened further.
    static func list(_ texts: [Phrase.Text]) -> Phrase {
        let shown = texts.prefix(texts.count > maxListed ? maxListed - 1 : maxListed)
            .map { cut($0, maxListedCharacters) }
        let rest = texts.count - shown.count
        if rest > 0 { return .plural("{items} and {count} more", "{items} and {count} more", rest, ["items": shown]) }
        guard shown.count > 1, let last = shown.last else { return .alone(shown.first ?? .verbatim("")) }
        return .phrase("{items} and {last}", ["items": shown.dropLast(), "last": [last]])
    }

    /// Shortens a result of `line` further. Our own messages are short.
    static func cut(_ text: Phrase.Text, _ limit: Int) -> Phrase.Text {
        text.isMessage ? text : .verbatim(line(text.text, limit: limit) ?? "")
    }

    /// Capitalises the first letter: reasons are sentence fragments, but are shown alone here.
    static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Isolates right-to-left text from adjacent text (FSI and PDI of UAX #9).
    private static func isolated(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: isRightToLeft) else { return line }
        return "\u{2068}\(line)\u{2069}"
    }

    /// The Unicode blocks reserved for right-to-left scripts.
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}
