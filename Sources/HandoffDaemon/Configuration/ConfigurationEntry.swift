/// A setting with its source, for error messages.
package struct ConfigurationEntry: Sendable, Equatable {
    /// The source of a setting.
    enum Origin: Sendable, Equatable, CustomStringConvertible {
        /// A line of a file, counted from 1.
        case file(path: String, line: Int)

        /// An environment variable.
        case variable(String)

        /// A command-line option, with its dashes.
        case option(String)

        var description: String {
            switch self {
            case .file(let path, let line): "\(path):\(line)"
            case .variable(let name): "environment variable \(name)"
            case .option(let name): "option \(name)"
            }
        }
    }

    let setting: Setting

    /// The value without surrounding spaces. Empty means the default.
    let value: String

    let origin: Origin
}
