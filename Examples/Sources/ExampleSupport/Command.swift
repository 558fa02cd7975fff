import Foundation

/// A line that the user typed, or that a key stands for: a word and what follows it.
package struct Command: Equatable, Sendable {
    /// The first word, in lower case.
    package let word: String
    /// The words behind it, as they were typed.
    package let arguments: [String]

    /// Splits a line at its spaces.
    /// - Returns: nil for a line without words.
    package init?(_ line: String) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.first else { return nil }
        word = first.lowercased()
        arguments = Array(words.dropFirst())
    }

    /// The argument at a position.
    /// - Returns: nil when there are not so many.
    package func argument(_ position: Int) -> String? {
        arguments.indices.contains(position) ? arguments[position] : nil
    }

    /// The argument at a position as a whole number.
    /// - Returns: nil when there is none, or it is no number.
    package func number(_ position: Int) -> Int? { argument(position).flatMap { Int($0) } }

    /// The argument at a position as a decimal number.
    /// - Returns: nil when there is none, or it is no finite number.
    package func decimal(_ position: Int) -> Double? {
        argument(position).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    }

    /// All arguments as one text.
    package var text: String { arguments.joined(separator: " ") }
}
