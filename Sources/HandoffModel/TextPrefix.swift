extension String {
    /// The beginning of the text with at most so many bytes of UTF-8, which ends between two scalars.
    ///
    /// Scalars, not characters: a single character may be as long as one likes.
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
