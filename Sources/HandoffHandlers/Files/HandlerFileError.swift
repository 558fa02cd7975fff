/// Why the file of a handler cannot be used.
package struct HandlerFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The line, from 1; nil when it is the file as a whole.
    package let line: Int?
    /// What is wrong, as a fragment.
    package let problem: String

    /// Something that is wrong in a line, or with the whole file.
    package init(line: Int?, _ problem: String) {
        self.line = line
        self.problem = problem
    }

    /// The line, if any, and what is wrong.
    package var description: String {
        line.map { "line \($0): \(problem)" } ?? problem
    }
}
