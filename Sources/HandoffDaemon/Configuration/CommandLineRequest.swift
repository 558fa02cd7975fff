/// The requested action of handoffd.
package enum CommandLineRequest: Sendable, Equatable {
    /// Run the daemon.
    case run(CommandLineOptions)

    /// Check configuration and policy, and report the first error.
    case check(CommandLineOptions)

    /// Print the options; exit code 0.
    case help

    /// Print the version; exit code 0.
    case version
}
