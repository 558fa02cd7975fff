/// What the caller of handoffd wants.
package enum CommandLineRequest: Sendable, Equatable {
    /// To run the daemon.
    case run(CommandLineOptions)

    /// To read configuration and policy, and report what is wrong with them.
    case check(CommandLineOptions)

    /// To see the options; exit code 0.
    case help

    /// To see the version; exit code 0.
    case version
}
