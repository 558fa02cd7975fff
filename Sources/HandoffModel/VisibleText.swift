/// Makes text from another device safe to show on a terminal, in a log and in a notification.
package enum VisibleText {
    /// Returns the text with control, bidirectional and other invisible characters written as
    /// `\u{…}`.
    ///
    /// The two joiners and the variation selectors are kept, because emoji and several scripts need
    /// them.
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

    /// Returns whether a character is the zero-width joiner or non-joiner. These are the only
    /// format characters that are not hidden.
    package static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0x200C || scalar.value == 0x200D
    }

    /// Returns whether a character moves the cursor, changes the text direction, or is invisible.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7E).contains(scalar.value) || isJoiner(scalar) { return false }
        // These private-use characters represent bytes that are not UTF-8 (`String.systemBytes` of
        // LoopIO). Text from other devices must not contain them.
        if (0x10FE80...0x10FEFF).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        // Fillers count as letters, and the grapheme joiner as a mark. Both are invisible.
        default: return scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector
        }
    }
}
