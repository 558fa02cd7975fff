/// A descriptor that the service manager has passed to this process.
package struct PassedSocket: Sendable, Equatable {
    /// The name from `FileDescriptorName=`, by default the unit's name.
    package let name: String
    /// The path of a unix socket; nil for anything else.
    package let path: String?
    /// The open descriptor. The receiver must move it into a `Descriptor`.
    package let descriptor: Int32
}
