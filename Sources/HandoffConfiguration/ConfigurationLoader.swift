import HandoffProtocol
import LoopIO

/// Puts a configuration together from the command line, the environment and the files.
package struct ConfigurationLoader: Sendable {
    /// Reads a file: nil when there is none. At most one byte over `ConfigurationFile.byteLimit` need be read.
    package typealias Reader = @Sendable (_ path: String) throws(ConfigurationError) -> [UInt8]?

    /// The file named on the command line, which must exist; nil: the user's and the system's, where they exist.
    package let file: String?

    /// The settings of the command line, which are stronger than all others.
    package let options: [ConfigurationEntry]

    /// The environment of the process.
    package let environment: [String: String]

    private let read: Reader

    /// A loader that can be used again, when the files may have changed.
    package init(
        file: String?, options: [ConfigurationEntry], environment: [String: String],
        read: @escaping Reader = ConfigurationReader.read
    ) {
        self.file = file
        self.options = options
        self.environment = environment
        self.read = read
    }

    /// The configuration as it is now. Throws at the first thing that is wrong; then nothing of it should be used.
    package func load() throws(ConfigurationError) -> Configuration {
        var configuration = Configuration()
        for path in paths {
            guard let bytes = try read(path) else {
                if path == file { throw .unreadableFile(path: path, reason: "no such file") }
                continue
            }
            try Self.overlay(try ConfigurationFile.parse(bytes, path: path), on: &configuration)
        }
        try Self.overlay(try variables(), on: &configuration)
        try Self.overlay(options, on: &configuration)
        configuration.grease = environment["HANDOFF_GREASE"] == "always" ? .always : .rarely
        return configuration
    }

    /// The files that are read, the weakest first.
    package var paths: [String] {
        if let file { return [file] }
        var paths = [Self.systemFile]
        // A relative XDG path is to be ignored (XDG Base Directory Specification).
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            paths.append("\(folder)/\(Self.userFile)")
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            paths.append("\(home)/.config/\(Self.userFile)")
        }
        return paths
    }

    /// The file for all users of the machine.
    package static let systemFile = "/etc/handoff/handoffd.conf"

    /// The user's own file, below the folder for configuration.
    package static let userFile = "handoff/handoffd.conf"

    /// The settings of the environment, in the order of the keys. Lists are separated by commas.
    private func variables() throws(ConfigurationError) -> [ConfigurationEntry] {
        let known = Set(ConfigurationKey.allCases.map(\.variable))
        let unknown = environment.keys.filter { $0.hasPrefix(ConfigurationKey.variablePrefix) && !known.contains($0) }
        if let name = unknown.min() { throw .unknownVariable(name) }
        var entries: [ConfigurationEntry] = []
        for key in ConfigurationKey.allCases {
            guard let text = environment[key.variable]?.systemTextRepaired else { continue }
            let values = key.isRepeatable ? text.split(separator: ",").map(String.init) : [text]
            for value in values.isEmpty ? [""] : values {
                entries.append(ConfigurationEntry(key: key, value: value, origin: .variable(key.variable)))
            }
        }
        return entries
    }

    /// Lays settings of one source over those of weaker ones. A list replaces the weaker list.
    package static func overlay(
        _ entries: [ConfigurationEntry], on configuration: inout Configuration
    ) throws(ConfigurationError) {
        var begun: Set<ConfigurationKey> = []
        for entry in entries {
            if begun.insert(entry.key).inserted { entry.key.reset(in: &configuration) }
            guard entry.key.apply(entry.value, to: &configuration) else { throw .invalidValue(entry) }
        }
    }
}
