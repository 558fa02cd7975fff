/// What handoffd was told on its command line.
package struct CommandLineOptions: Sendable, Equatable {
    /// The configuration file to read instead of the usual ones.
    package var configurationFile: String?

    /// The folder for keys and state.
    package var stateDirectory: String?

    /// The path of the control socket.
    package var controlSocket: String?

    /// The path of the app socket.
    package var appSocket: String?

    /// Whether the user's desktop is of interest: apps that are installed, notifications, sessions.
    package var hasDesktop = true

    /// The settings, which are stronger than environment and files; their values have been judged.
    package var settings: [ConfigurationEntry] = []

    package init() {}
}
