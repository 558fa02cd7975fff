/// The exit statuses of `handoffctl`; scripts rely on the numbers.
package enum ExitStatus: Int32, Sendable {
    /// Done.
    case done = 0
    /// Failed; a message on standard error says why.
    case failed = 1
    /// The command line was wrong.
    case wrongUsage = 2
    /// The daemon is not reachable, or went away.
    case daemonNotReachable = 3
    /// Nothing on offer fits.
    case nothingToContinue = 4
    /// Interrupted before it was done; the number that a shell gives to a program which SIGINT ended.
    case interrupted = 130
}
