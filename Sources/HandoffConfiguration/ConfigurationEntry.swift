/// One setting as it was given, and where, so that an error can point at it.
package struct ConfigurationEntry: Sendable, Equatable {
    /// The place that a setting was read from.
    package enum Origin: Sendable, Equatable, CustomStringConvertible {
        /// A line of a file, counted from 1.
        case file(path: String, line: Int)

        /// A variable of the environment.
        case variable(String)

        /// An option of the command line, with its dashes.
        case option(String)

        package var description: String {
            switch self {
            case .file(let path, let line): "\(path):\(line)"
            case .variable(let name): "environment variable \(name)"
            case .option(let name): "option \(name)"
            }
        }
    }

    /// The setting.
    package let key: ConfigurationKey

    /// The value without surrounding spaces; empty means the default.
    package let value: String

    /// Where it was given.
    package let origin: Origin

    package init(key: ConfigurationKey, value: String, origin: Origin) {
        self.key = key
        self.value = value
        self.origin = origin
    }
}
