package import HandoffControl

/// What a socket is for, and so which interfaces are offered there.
package enum ControlRole: Sendable, Equatable {
    /// The user's own tools: everything.
    case control
    /// Apps, sandboxed ones too: the app interface alone.
    case app

    /// The interfaces of the socket, beside `org.varlink.service`.
    package var interfaces: [VarlinkInterface] {
        switch self {
        case .control: HandoffInterfaces.onControlSocket
        case .app: HandoffInterfaces.onAppSocket
        }
    }
}
