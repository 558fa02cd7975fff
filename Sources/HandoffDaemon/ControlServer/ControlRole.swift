import HandoffControl

/// The purpose of a socket, which determines the interfaces offered on it.
package enum ControlRole: Sendable, Equatable {
    /// The user's own tools: all interfaces.
    case control
    /// Apps, including sandboxed ones: only the app interface.
    case app

    /// The interfaces of the socket, in addition to `org.varlink.service`.
    var interfaces: [VarlinkInterface] {
        switch self {
        case .control: HandoffInterfaces.onControlSocket
        case .app: HandoffInterfaces.onAppSocket
        }
    }
}
