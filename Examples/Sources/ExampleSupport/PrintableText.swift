extension String {
    /// The text as a terminal may show it: what comes from another device could otherwise move the cursor, change
    /// colours or turn the direction of writing. Control and format characters become U+FFFD.
    package var printable: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                // Joins an emoji; harmless.
                result.unicodeScalars.append(scalar == "\u{200D}" ? scalar : "\u{FFFD}")
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
