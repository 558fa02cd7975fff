/// Finds the word that a person probably meant.
package enum NearestWord {
    /// The word of `words` with the fewest edits from `word`; nil when none is near enough to be meant.
    package static func find(_ word: String, among words: [String]) -> String? {
        let given = Array(word.lowercased().utf8.prefix(64))
        // A third of the word may be wrong, and always one letter or two swapped ones.
        let limit = max(2, given.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in words {
            let distance = distance(given, Array(candidate.lowercased().utf8.prefix(64)))
            if distance <= limit, distance < candidate.utf8.count, distance < best?.distance ?? Int.max {
                best = (candidate, distance)
            }
        }
        return best?.word
    }

    /// The number of insertions, deletions and replacements that turn one into the other (Levenshtein).
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (index, byte) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (byte == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[second.count]
    }
}
