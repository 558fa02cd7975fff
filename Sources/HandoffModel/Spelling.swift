/// Suggests corrections for misspelled words.
package enum Spelling {
    /// The maximum number of characters of a word to correct.
    private static let maxLength = 64

    /// Returns the candidate nearest to a word, or nil if none is near enough to suggest. Of two
    /// equally near candidates, the first one is returned.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let typed = Array(word.lowercased())
        // If one is a prefix of the other, it is almost certainly the intended word, however long
        // it is.
        if typed.count >= 3, let match = candidates.first(where: { $0.lowercased().hasPrefix(word.lowercased()) }) {
            return match
        }
        // The input may be a whole file. It is then not a misspelled word, and the comparison would
        // take too long.
        guard typed.count <= maxLength else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(typed, Array(candidate.lowercased()))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        // Up to three typos are plausible in any word that is not very short. Beyond half of the
        // word, it is a different word.
        guard let best, best.distance <= max(1, min(3, typed.count / 2)) else { return nil }
        return best.candidate
    }

    /// The number of letters that were omitted, added, changed or swapped with their neighbour
    /// (optimal string alignment distance).
    package static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for (row, left) in first.enumerated() {
            var current = [row + 1]
            for (column, right) in second.enumerated() {
                let change = previous[column] + (left == right ? 0 : 1)
                var least = min(change, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left == second[column - 1], first[row - 1] == right {
                    least = min(least, beforePrevious[column - 1] + 1)
                }
                current.append(least)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[second.count]
    }
}
