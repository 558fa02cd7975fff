/// The signals with which a user, a terminal or a service manager asks a command to end.
package enum Interrupts {
    /// SIGHUP, SIGINT and SIGTERM.
    package static let numbers: [Int32] = [1, 2, 15]
}
