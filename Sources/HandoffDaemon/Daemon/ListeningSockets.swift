import HandoffControl
import LoopIO

/// Opens the sockets that the daemon listens on: one port for the other devices, and the unix
/// sockets of clients.
enum ListeningSockets {
    /// The error of a port that cannot be opened.
    struct PortError: Error, CustomStringConvertible {
        let port: UInt16?
        let error: Errno

        var description: String {
            let place = port.map { "port \($0)" } ?? "a free port"
            let advice = error == .addressInUse ? "; choose another with --port, or stop the program that uses it" : ""
            return "cannot listen on \(place): \(error)\(advice)"
        }
    }

    /// Opens TCP and UDP on one port.
    static func port(_ configuration: Configuration) throws -> BoundPort {
        let address = configuration.address
        switch configuration.port {
        case .standard:
            return try wrapped(nil) { () throws(Errno) in
                try BoundPort(firstFreeOf: BoundPort.defaultPorts, address: address)
            }
        case .any: return try wrapped(nil) { () throws(Errno) in try BoundPort(port: 0, address: address) }
        case .fixed(let port):
            return try wrapped(port) { () throws(Errno) in try BoundPort(port: port, address: address) }
        }
    }

    /// Returns the control socket and the app socket: those that the service manager passed,
    /// otherwise new ones.
    ///
    /// A control socket with a given path has no app socket unless its path is given too.
    static func clients(
        _ options: CommandLineOptions, passed: [PassedSocket], environment: [String: String], on loop: EventLoop
    ) throws -> [(listener: Listener, role: ControlRole)] {
        if !passed.isEmpty {
            return try passed.map { socket in
                let listener = try Listener(adopting: Descriptor(owning: socket.descriptor), on: loop)
                return (listener, role(of: socket))
            }
        }
        let runtime = environment["XDG_RUNTIME_DIR"]
        let userID = ProcessEnvironment.userID
        let control = options.controlSocket ?? SocketPath.control(runtimeDirectory: runtime, userID: userID)
        let app =
            options.appSocket
            ?? (options.controlSocket == nil ? SocketPath.app(runtimeDirectory: runtime, userID: userID) : nil)
        var clients: [(listener: Listener, role: ControlRole)] = [(try Listener(unixPath: control, on: loop), .control)]
        if let app { clients.append((try Listener(unixPath: app, on: loop), .app)) }
        return clients
    }

    /// The unit creates the sockets. Their folders distinguish them.
    private static func role(of socket: PassedSocket) -> ControlRole {
        socket.path?.split(separator: "/").dropLast().last == "handoff-app" ? .app : .control
    }

    /// Ends the connections that wait at sockets of the service manager. Tools receive an error as
    /// the reply to their call. Apps receive none, so that they retry.
    static func refuse(_ passed: [PassedSocket], because reason: String) {
        let error = CallError.control(.notStarted, reason)
        let answer = VarlinkReply(error: error.name, parameters: error.parameters).encoded()
        for socket in passed {
            PendingConnections.refuse(of: socket.descriptor, with: role(of: socket) == .control ? answer : [])
        }
    }

    private static func wrapped(_ port: UInt16?, _ bind: () throws(Errno) -> BoundPort) throws -> BoundPort {
        do throws(Errno) {
            return try bind()
        } catch {
            throw PortError(port: port, error: error)
        }
    }
}
