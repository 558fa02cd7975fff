extension ArraySlice<UInt8> {
    /// The line without spaces, tabs and carriage returns at both ends, as people and other editors
    /// may leave them in a text file. Blanks are whole UTF-8 characters, so valid UTF-8 stays
    /// valid.
    package var withoutBlanks: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
        }
        var slice = drop(while: isBlank)
        while let last = slice.last, isBlank(last) { slice.removeLast() }
        return slice
    }
}
