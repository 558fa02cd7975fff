import HandoffProtocol
import LoopIO

/// Assembles a configuration from the command line, the environment and the files.
package struct ConfigurationLoader: Sendable {
    /// Reads a file. Returns nil if it does not exist, and at most one byte more than
    /// `ConfigurationFile.byteLimit`.
    package typealias Reader = @Sendable (_ path: String) throws(ConfigurationError) -> [UInt8]?

    /// The file named on the command line, which must exist; nil means the user's and the system's
    /// files, if they exist.
    let file: String?

    /// The settings of the command line, which take precedence over all others.
    let options: [ConfigurationEntry]

    let environment: [String: String]

    private let read: Reader

    /// Creates a loader. It can be used repeatedly, because files may change.
    package init(
        file: String?, options: [ConfigurationEntry], environment: [String: String],
        read: @escaping Reader = ConfigurationReader.read
    ) {
        self.file = file
        self.options = options
        self.environment = environment
        self.read = read
    }

    /// Loads the current configuration. Throws at the first error. Nothing of the configuration
    /// should then be used.
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

    /// The files to read, in ascending order of precedence.
    var paths: [String] {
        if let file { return [file] }
        var paths = [Self.systemFile]
        // A relative XDG path must be ignored (XDG Base Directory Specification).
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            paths.append("\(folder)/\(Self.userFile)")
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            paths.append("\(home)/.config/\(Self.userFile)")
        }
        return paths
    }

    /// The file for all users of the machine.
    static let systemFile = "/etc/handoff/handoffd.conf"

    /// The user's file, relative to the configuration folder.
    static let userFile = "handoff/handoffd.conf"

    /// Returns the settings of the environment, ordered by key. Lists are separated by commas.
    private func variables() throws(ConfigurationError) -> [ConfigurationEntry] {
        let known = Set(Setting.all.map(\.variable))
        let unknown = environment.keys.filter { $0.hasPrefix(Setting.variablePrefix) && !known.contains($0) }
        if let name = unknown.min() { throw .unknownVariable(name) }
        var entries: [ConfigurationEntry] = []
        for setting in Setting.all {
            guard let text = environment[setting.variable]?.systemTextRepaired else { continue }
            let values = setting.isRepeatable ? text.split(separator: ",").map(String.init) : [text]
            for value in values.isEmpty ? [""] : values {
                entries.append(ConfigurationEntry(setting: setting, value: value, origin: .variable(setting.variable)))
            }
        }
        return entries
    }

    /// Applies the settings of one source over those of lower precedence. A list replaces the
    /// previous list.
    package static func overlay(
        _ entries: [ConfigurationEntry], on configuration: inout Configuration
    ) throws(ConfigurationError) {
        var seen: Set<Setting> = []
        for entry in entries {
            if seen.insert(entry.setting).inserted { entry.setting.reset(in: &configuration) }
            guard entry.setting.apply(entry.value, to: &configuration) else { throw .invalidValue(entry) }
        }
    }
}
