extension String {
    /// Returns the longest prefix of whole scalars with at most `limit` bytes of UTF-8.
    ///
    /// It cuts between scalars rather than characters because the length of a character is
    /// unlimited.
    package func prefix(utf8Count limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var kept = String.UnicodeScalarView()
        var size = 0
        for scalar in unicodeScalars {
            size += UTF8.width(scalar)
            guard size <= limit else { break }
            kept.append(scalar)
        }
        return String(kept)
    }
}
