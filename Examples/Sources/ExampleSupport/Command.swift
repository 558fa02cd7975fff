import Foundation

/// A line that the user typed, or the command of a key: a word and its arguments.
package struct Command: Equatable, Sendable {
    /// The first word, in lower case.
    package let word: String
    /// The following words, as typed.
    package let arguments: [String]

    /// Splits a line at whitespace.
    /// - Returns: nil for a line without words.
    package init?(_ line: String) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.first else { return nil }
        word = first.lowercased()
        arguments = Array(words.dropFirst())
    }

    /// Returns the argument at a position.
    /// - Returns: nil if there are fewer arguments.
    package func argument(_ position: Int) -> String? {
        arguments.indices.contains(position) ? arguments[position] : nil
    }

    /// Returns the argument at a position as an integer.
    /// - Returns: nil if there is none, or it is not a number.
    package func number(_ position: Int) -> Int? { argument(position).flatMap { Int($0) } }

    /// Returns the argument at a position as a decimal number.
    /// - Returns: nil if there is none, or it is not a finite number.
    package func decimal(_ position: Int) -> Double? {
        argument(position).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    }

    /// All arguments as one text.
    package var text: String { arguments.joined(separator: " ") }
}
