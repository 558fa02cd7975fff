extension String {
    /// The text in a form that is safe for a terminal. Text from another device could otherwise
    /// move the cursor, change colours or reverse the writing direction. Control and format
    /// characters become U+FFFD.
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
