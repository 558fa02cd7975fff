/// The parsed command line of handoffd.
package struct CommandLineOptions: Sendable, Equatable {
    /// The configuration file to read instead of the default ones.
    package var configurationFile: String?

    /// The folder for keys and state.
    package var stateDirectory: String?

    /// The path of the control socket.
    package var controlSocket: String?

    /// The path of the app socket.
    package var appSocket: String?

    /// True if the daemon uses the desktop: installed apps, notifications and sessions.
    var hasDesktop = true

    /// The settings, which override the environment and files. Their values have been validated.
    package var settings: [ConfigurationEntry] = []

    package init() {}
}
