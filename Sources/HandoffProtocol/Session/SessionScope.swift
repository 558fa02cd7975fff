/// What a connection may carry.
package enum SessionScope: Sendable, Equatable {
    /// Everything.
    case full

    /// Roster and epoch only: the gate was opened with the key of a former epoch, by either side.
    case rosterOnly
}
