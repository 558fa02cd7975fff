/// Text from another device, made safe to show on a terminal, in a log and in a notification.
package enum VisibleText {
    /// The text with control, bidirectional and other invisible characters written as `\u{…}`.
    ///
    /// The two joiners and the selectors of variants stay, since emoji and several scripts need them.
    package static func escape(_ peerText: String) -> String {
        guard !isPlain(peerText), peerText.unicodeScalars.contains(where: isHidden) else { return peerText }
        var visible = ""
        for scalar in peerText.unicodeScalars {
            if isHidden(scalar) {
                visible += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }

    /// Whether a text has printable characters of ASCII only, as most have: told by its bytes, without a look at tables.
    package static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Whether a character moves the cursor, turns the direction of text, or cannot be seen at all.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: return false
        case 0x200C, 0x200D: return false
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        // Fillers count as letters, and a joiner of graphemes as a mark: nothing is shown for any of them.
        default: return scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector
        }
    }
}
