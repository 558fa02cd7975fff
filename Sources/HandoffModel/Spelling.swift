/// Finds the right word that someone probably meant.
package enum Spelling {
    /// Characters of a word that may be a misspelt one.
    private static let longest = 64

    /// The candidate nearest to a word, or nil when none is near enough to be worth suggesting. Of two equally near
    /// ones the first in the list wins.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let typed = Array(word.lowercased())
        // One with which the word begins or which begins with the word is almost surely meant, however long.
        if typed.count >= 3, let begun = candidates.first(where: { $0.lowercased().hasPrefix(word.lowercased()) }) {
            return begun
        }
        // A whole file may stand where a word is expected: nobody meant a short one, and looking would take long.
        guard typed.count <= longest else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(typed, Array(candidate.lowercased()))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        // Two slips are likely in any word that is not very short; beyond half of the word it is another word.
        guard let best, best.distance <= max(1, min(3, typed.count / 2)) else { return nil }
        return best.candidate
    }

    /// How many letters were left out, added, changed or swapped with their neighbour: the optimal string alignment
    /// distance.
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
