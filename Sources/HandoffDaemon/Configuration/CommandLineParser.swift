import LoopIO

/// Parses handoffd's command line.
package enum CommandLineParser {
    private static let noDesktop = "--no-desktop"
    private static let checkConfiguration = "--check-config"

    /// All options, in the order of the help text.
    static let options: [OptionSpecification] = [
        OptionSpecification("--config", .value(.file), "read this configuration file instead of the default ones"),
        OptionSpecification(
            "--state-dir", .value(Placeholder("DIR", isSystemText: true)),
            "store keys and state here (default: $STATE_DIRECTORY, else $XDG_STATE_HOME/handoff/state)"),
        OptionSpecification(
            "--socket", .value(.path), "the control socket (default: $XDG_RUNTIME_DIR/handoff/control.socket)"),
        OptionSpecification(
            "--app-socket", .value(.path),
            "the app socket (default: next to the default control socket; with --socket: none)"),
        OptionSpecification("--address", .value("IP"), "listen on this address only"),
        OptionSpecification("--port", .value("N"), "listen on this port only (0: any)"),
        OptionSpecification(
            "--interface", .values("NAME"), "be discoverable only on this interface; may be repeated"),
        OptionSpecification("--discovery", .value("HOW"), "auto, avahi, embedded or static"),
        OptionSpecification("--name", .value("NAME"), "the name shown on your other devices"),
        OptionSpecification(
            noDesktop, .flag,
            "do not start apps, show notifications or watch screen locks, for a machine without a user"),
        OptionSpecification(
            checkConfiguration, .flag, "check configuration and policy, report the first error, and exit"),
        OptionSpecification("--log-level", .value("LEVEL"), "debug, info, notice, error or fault"),
        OptionSpecification("--help", .flag, "print this text"),
        OptionSpecification("--version", .flag, "print the version"),
    ]

    /// Returns the setting that an option changes; nil for other options.
    static func setting(of option: String) -> Setting? { Setting.named(String(option.dropFirst(2))) }

    /// Parses the arguments. The first `--help` or `--version` takes precedence over all other
    /// arguments.
    package static func parse(_ words: [String]) throws(OptionError) -> CommandLineRequest {
        for word in words {
            if word == "--help" || word == "-h" { return .help }
            if word == "--version" { return .version }
        }
        let arguments = try scan(words)
        var options = CommandLineOptions()
        options.configurationFile = try path(arguments, "--config")
        options.stateDirectory = try path(arguments, "--state-dir")
        options.controlSocket = try path(arguments, "--socket")
        options.appSocket = try path(arguments, "--app-socket")
        options.hasDesktop = !arguments.has(noDesktop)
        for option in Self.options {
            guard let setting = setting(of: option.name) else { continue }
            options.settings += arguments.all(option.name).map {
                ConfigurationEntry(setting: setting, value: $0, origin: .option(option.name))
            }
        }
        // Validated here, so that an invalid value is reported as a usage error, not a
        // configuration error.
        var scratch = Configuration()
        do {
            try ConfigurationLoader.overlay(options.settings, on: &scratch)
        } catch {
            throw .invalidValue(error)
        }
        return arguments.has(checkConfiguration) ? .check(options) : .run(options)
    }

    private static func scan(_ words: [String]) throws(OptionError) -> ParsedArguments {
        var scanner = ArgumentScanner(words)
        while let argument = scanner.next() {
            switch argument {
            case .operand(let word): throw .unexpectedWord(word)
            case .option(let text):
                do throws(ArgumentError) {
                    try scanner.accept(option: text, among: options)
                } catch {
                    throw OptionError(error)
                }
            }
        }
        let flags = scanner.arguments.flags
        for flag in flags where flags.count(where: { $0 == flag }) > 1 { throw .repeatedOption(flag) }
        return scanner.arguments
    }

    private static func path(_ arguments: ParsedArguments, _ option: String) throws(OptionError) -> String? {
        let path = arguments.value(option)
        if path?.isEmpty == true { throw .emptyPath(option) }
        return path
    }
}
