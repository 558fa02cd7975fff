/// What the caller of handoffd wants.
package enum CommandLineRequest: Sendable, Equatable {
    /// To run the daemon.
    case run(CommandLineOptions)

    /// To see the options; exit code 0.
    case help

    /// To see the version; exit code 0.
    case version
}
