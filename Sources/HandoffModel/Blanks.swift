extension ArraySlice<UInt8> {
    /// Without the spaces, tabs and carriage returns at both ends: a line of a text file that a person or a foreign editor wrote.
    /// Blanks are whole characters of UTF-8, so what was UTF-8 stays so.
    package var withoutBlanks: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
        }
        var slice = drop(while: isBlank)
        while let last = slice.last, isBlank(last) { slice.removeLast() }
        return slice
    }
}
