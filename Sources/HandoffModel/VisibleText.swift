/// Text from another device, made safe to show on a terminal, in a log and in a notification.
package enum VisibleText {
    /// The text with control, bidirectional and other invisible characters written as `\u{…}`.
    ///
    /// The two joiners and the selectors of variants stay, since emoji and several scripts need them.
    package static func escape(_ peerText: String) -> String {
        guard peerText.unicodeScalars.contains(where: isHidden) else { return peerText }
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

    /// Whether a character is the joiner or the non-joiner: of the category of format characters, the two that are not hidden.
    package static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0x200C || scalar.value == 0x200D
    }

    /// Whether a character moves the cursor, turns the direction of text, or cannot be seen at all.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7E).contains(scalar.value) || isJoiner(scalar) { return false }
        // Of the private area: stands for a byte that is not UTF-8 (`String.systemBytes` of LoopIO). Text of other devices must not.
        if (0x10FE80...0x10FEFF).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        // Fillers count as letters, and a joiner of graphemes as a mark: nothing is shown for any of them.
        default: return scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector
        }
    }
}
