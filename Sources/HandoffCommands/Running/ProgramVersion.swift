import HandoffModel

/// What this program calls itself.
package enum ProgramVersion {
    /// The name under which it attaches and speaks.
    package static let program = "handoffctl"
    /// The version of the package.
    package static let number = Version.number
}
