import HandoffControl
package import LoopIO

/// Accepts the clients of the control and app sockets and passes on their calls. On the daemon's
/// loop only.
///
/// It handles introspection, unknown methods, other users and sandboxed processes itself. It passes
/// on calls to existing methods from clients that may call them.
package final class ControlServer {
    private let loop: EventLoop
    private let log: Logger
    private let refusals: PacedLog
    private let userID: UInt32
    private let limits: ControlLimits
    private let group: (_ pid: Int32) -> ClientGroup
    private let onCall: (ControlCall) -> Void
    private let services: (control: VarlinkService, app: VarlinkService)
    private var listeners: [Listener] = []
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    /// Connections beyond a limit, until their first call is answered with an error or they time
    /// out.
    private var refused: [ObjectIdentifier: (connection: ControlConnection, limit: ConnectionLimit, timer: LoopTimer)] =
        [:]
    /// Connections that serve only short calls of the control interface.
    private var reserved: [ObjectIdentifier: ConnectionLimit] = [:]
    private var upgraded: [ObjectIdentifier: (connection: ControlConnection, stream: UpgradedStream)] = [:]

    /// Creates a server without sockets.
    ///
    /// - Parameters:
    ///   - version: the version reported by `GetInfo`.
    ///   - userID: the user whose processes may connect; `geteuid()` in the daemon.
    ///   - group: returns the group of a process. A process in a sandbox is denied the control
    ///     interface.
    ///   - onCall: handles each call. The reply may be sent later.
    package init(
        loop: EventLoop, version: String, userID: UInt32, limits: ControlLimits = ControlLimits(), log: Logger,
        group: @escaping (_ pid: Int32) -> ClientGroup, onCall: @escaping (ControlCall) -> Void
    ) {
        self.loop = loop
        self.log = log
        refusals = PacedLog(loop: loop, log: log)
        self.userID = userID
        self.limits = limits
        self.group = group
        self.onCall = onCall
        services = (
            VarlinkService(version: version, interfaces: ControlRole.control.interfaces),
            VarlinkService(version: version, interfaces: ControlRole.app.interfaces)
        )
    }

    /// The number of connections, excluding upgraded ones.
    package var connectionCount: Int {
        connections.count
    }

    /// Serves the clients of a listening unix socket. The server takes ownership of it.
    func serve(_ listener: Listener, role: ControlRole) {
        listeners.append(listener)
        listener.onAccept = { [weak self] descriptor, _ in self?.accept(descriptor, role: role) }
        listener.onShortage = { [log] error in
            log.error("Cannot accept control connections for now", ["error": "\(error)"])
        }
    }

    /// Serves a connected client. A client beyond a limit receives an error in reply to its first
    /// call. The connection of another user is closed.
    package func accept(_ descriptor: consuming Descriptor, role: ControlRole) {
        do throws(Errno) {
            let credentials = try PeerCredentials(of: descriptor.raw)
            guard credentials.uid == userID else {
                refusals.notice("Refused a control connection of another user", ["uid": "\(credentials.uid)"])
                return LocalSocket.close(descriptor)
            }
            let client = ClientIdentity(
                pid: credentials.pid, uid: credentials.uid, group: group(credentials.pid), role: role)
            let limit = reachedLimit(client, leaving: 0)
            if let limit {
                noteRefusal(limit, client)
                let waiting = refused.values.count { $0.connection.client.role == role }
                guard waiting < limits.refusedConnections else { return LocalSocket.close(descriptor) }
            }
            let connection = try ControlConnection(
                descriptor, client: client, on: loop, limits: limits, server: self)
            let id = ObjectIdentifier(connection)
            if let limit {
                let timer = loop.timer(after: limits.refusedTimeout, accuracy: .milliseconds(100)) { [weak self] in
                    self?.refused[id]?.connection.end()
                }
                refused[id] = (connection, limit, timer)
            } else {
                if role == .control { reserved[id] = reachedLimit(client, leaving: limits.connectionsForTools) }
                connections[id] = connection
            }
        } catch {
            log.error("Cannot serve a control connection", ["error": "\(error)"])
        }
    }

    /// Accepts no more connections. Existing connections continue.
    func stopAccepting() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// Ends every connection after the pending replies. New connections wait until ``resume()``.
    func pause() {
        for listener in listeners { listener.pause() }
        endConnections()
    }

    /// Accepts again after ``pause()``.
    func resume() {
        for listener in listeners { listener.resume() }
    }

    /// Ends every connection after the pending replies. Open calls are abandoned.
    package func stop() {
        stopAccepting()
        endConnections()
    }

    private func endConnections() {
        for connection in connections.values { connection.end() }
        for refusal in refused.values { refusal.connection.end() }
        for (_, stream) in upgraded.values { stream.close() }
    }

    // MARK: - Clients

    /// The limit that another connection of a client would exceed, or nil if there is room.
    /// - Parameter places: number of connections below the limit to leave free.
    private func reachedLimit(_ client: ClientIdentity, leaving places: Int) -> ConnectionLimit? {
        let alike = connections.values.filter { $0.client.role == client.role }
        if client.role == .app, alike.count >= limits.appConnections - places { return .apps(limits.appConnections) }
        if connections.count >= limits.connections - places { return .all(limits.connections) }
        let ofGroup = alike.count { $0.client.group == client.group }
        guard ofGroup >= limits.connectionsPerGroup - places else { return nil }
        return .group(limits.connectionsPerGroup, client.group)
    }

    private func noteRefusal(_ limit: ConnectionLimit, _ client: ClientIdentity) {
        switch limit {
        case .all(let maximum), .apps(let maximum):
            refusals.notice("Refused a control connection: limit reached", ["limit": "\(maximum)"])
        case .group(let maximum, let group):
            refusals.notice(
                "Refused a control connection: limit for one program reached",
                ["limit": "\(maximum)", "program": "\(group)"])
        }
    }

    /// Called when a connection has become a raw stream. `ended` follows at its end.
    func upgraded(_ stream: UpgradedStream, of connection: ControlConnection) {
        forget(connection)
        upgraded[ObjectIdentifier(connection)] = (connection, stream)
    }

    /// Called when a connection has ended for the server. The reason is for the log.
    func ended(_ connection: ControlConnection, _ reason: VarlinkServerMachine.Reason) {
        upgraded[ObjectIdentifier(connection)] = nil
        forget(connection)
        if case .protocolViolation(let error) = reason {
            refusals.notice("Ended a control connection", ["pid": "\(connection.client.pid)", "reason": "\(error)"])
        } else {
            log.debug("Control connection ended", ["pid": "\(connection.client.pid)", "reason": "\(reason)"])
        }
    }

    private func forget(_ connection: ControlConnection) {
        connections[ObjectIdentifier(connection)] = nil
        reserved[ObjectIdentifier(connection)] = nil
        refused[ObjectIdentifier(connection)] = nil
    }

    // MARK: - Calls

    /// Serves a call.
    func serve(_ call: VarlinkCall, _ id: VarlinkCallID, of connection: ControlConnection) {
        let open = ControlCall(call, id: id, client: connection.client, connection: connection)
        connection.track(open)
        if let refusal = refused[ObjectIdentifier(connection)] {
            let error = refusal.limit.error(for: call)
            open.fail(error.name, error.parameters)
            return connection.end()
        }
        if let limit = reserved[ObjectIdentifier(connection)], !Self.isForTools(call) {
            let error = limit.error(for: call, reserved: limits.connectionsForTools)
            return open.fail(error.name, error.parameters)
        }
        let service = connection.client.role == .control ? services.control : services.app
        if let reply = service.reply(to: call) {
            if let error = reply.error {
                open.fail(error, reply.parameters)
            } else {
                open.reply(reply.parameters)
            }
        } else if call.interface == ControlNames.controlInterface, connection.client.group.isSandbox {
            refusals.notice("Denied a sandboxed process the control interface", ["pid": "\(connection.client.pid)"])
            open.fail(VarlinkService.permissionDenied)
        } else {
            onCall(open)
        }
    }

    /// Returns whether a call is served on a connection reserved for tools: a short call of the
    /// control interface.
    private static func isForTools(_ call: VarlinkCall) -> Bool {
        call.interface != ControlNames.appInterface && !call.member.hasPrefix("Watch")
    }
}
