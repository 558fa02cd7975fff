import LoopIO

/// Parses handoffd's command line.
package enum CommandLineParser {
    /// An option that takes a value.
    private enum Option: CaseIterable {
        case config
        case stateDirectory
        case socket
        case appSocket
        case address
        case port
        case interface
        case discovery
        case name
        case logLevel

        /// The option as typed.
        var word: String {
            switch self {
            case .config: "--config"
            case .stateDirectory: "--state-dir"
            case .socket: "--socket"
            case .appSocket: "--app-socket"
            case .address: "--address"
            case .port: "--port"
            case .interface: "--interface"
            case .discovery: "--discovery"
            case .name: "--name"
            case .logLevel: "--log-level"
            }
        }

        /// The setting with the key of this name; nil for a path.
        var setting: Setting? { Setting.named(String(word.dropFirst(2))) }
    }

    private static let noDesktop = "--no-desktop"
    private static let checkConfiguration = "--check-config"

    /// Parses the arguments. The first `--help` or `--version` takes precedence over all other
    /// arguments.
    package static func parse(_ words: [String]) throws(OptionError) -> CommandLineRequest {
        for word in words {
            if word == "--help" || word == "-h" { return .help }
            if word == "--version" { return .version }
        }
        var options = CommandLineOptions()
        var rest = words[...]
        var isCheck = false
        while let word = rest.popFirst() {
            guard word == Self.checkConfiguration else {
                try take(word, &rest, into: &options)
                continue
            }
            guard !isCheck else { throw .repeatedOption(word) }
            isCheck = true
        }
        // Validated here, so that an invalid value is reported as a usage error, not a
        // configuration error.
        var scratch = Configuration()
        do {
            try ConfigurationLoader.overlay(options.settings, on: &scratch)
        } catch {
            throw .invalidValue(error)
        }
        return isCheck ? .check(options) : .run(options)
    }

    /// Parses one option, `--option VALUE` or `--option=VALUE`.
    private static func take(
        _ word: String, _ rest: inout ArraySlice<String>, into options: inout CommandLineOptions
    ) throws(OptionError) {
        guard word.hasPrefix("-"), word != "-" else { throw .unexpectedWord(word) }
        if word == Self.noDesktop {
            guard options.hasDesktop else { throw .repeatedOption(word) }
            options.hasDesktop = false
            return
        }
        let parts = word.splitOption
        let name = parts.first ?? word
        guard let option = Option.allCases.first(where: { $0.word == name }) else {
            let flags = [Self.noDesktop, Self.checkConfiguration, "--help", "--version"]
            if flags.contains(name) { throw .superfluousValue(name) }
            throw .unknownOption(name, options: Option.allCases.map(\.word) + flags)
        }
        guard let value = parts.count == 2 ? parts.last : rest.popFirst() else {
            throw .missingValue(name, value: option.setting?.allowed ?? "a path")
        }
        switch option {
        case .config: try set(&options.configurationFile, value, name)
        case .stateDirectory: try set(&options.stateDirectory, value, name)
        case .socket: try set(&options.controlSocket, value, name)
        case .appSocket: try set(&options.appSocket, value, name)
        case .address, .port, .interface, .discovery, .name, .logLevel:
            guard let setting = option.setting else { return }
            guard setting.isRepeatable || !options.settings.contains(where: { $0.setting == setting }) else {
                throw .repeatedOption(name)
            }
            options.settings.append(
                ConfigurationEntry(setting: setting, value: value.systemTextRepaired, origin: .option(name)))
        }
    }

    private static func set(_ place: inout String?, _ value: String, _ name: String) throws(OptionError) {
        guard place == nil else { throw .repeatedOption(name) }
        guard !value.isEmpty else { throw .emptyPath(name) }
        place = value
    }
}
