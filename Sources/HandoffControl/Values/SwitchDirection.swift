/// One of the two directions that can be switched off; the raw values are the words on the socket and in files.
package enum SwitchDirection: String, Sendable, CaseIterable {
    /// What this device tells the others, and gives them.
    case advertise
    /// What this device shows of the others, and takes over.
    case receive
}
