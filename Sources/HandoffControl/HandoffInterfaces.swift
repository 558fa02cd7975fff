/// The interface definitions, which are built into the program.
package enum HandoffInterfaces {
    /// For apps: `dev.handoff1`.
    package static let app = VarlinkInterface(definition: PackageResources.dev_handoff1_varlink)
    /// For the user's own tools: `dev.handoff1.Control`.
    package static let control = VarlinkInterface(definition: PackageResources.dev_handoff1_Control_varlink)
    /// For the daemon itself, of the user's desktop: `dev.handoff1.Desktop`.
    package static let desktop = VarlinkInterface(definition: PackageResources.dev_handoff1_Desktop_varlink)
    /// Of every service: `org.varlink.service`.
    package static let service = VarlinkInterface(definition: PackageResources.org_varlink_service_varlink)

    /// What the control socket offers.
    package static var onControlSocket: [VarlinkInterface] {
        [app, control].compactMap(\.self)
    }

    /// What the app socket offers.
    package static var onAppSocket: [VarlinkInterface] {
        [app].compactMap(\.self)
    }
}
