import HandoffControl
package import HandoffLog
package import LoopIO

/// Accepts the clients of the control and app sockets, and hands their calls on. On the daemon's loop only.
///
/// Introspection, unknown methods, foreign users and sandboxed processes are dealt with here; what is left are calls
/// of methods that exist, from clients that may call them.
package final class ControlServer: ControlConnectionDelegate {
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
    private var upgraded: [ObjectIdentifier: (connection: ControlConnection, stream: UpgradedStream)] = [:]

    /// A server without sockets.
    ///
    /// - Parameters:
    ///   - version: what `GetInfo` names.
    ///   - userID: whose processes may connect, in the daemon `geteuid()`.
    ///   - group: with whom a process is counted. One in a sandbox is refused the control interface.
    ///   - onCall: gets each call; its answer may come later.
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

    /// How many connections there are, upgraded ones not counted.
    package var connectionCount: Int {
        connections.count
    }

    /// Serves the clients of a listening unix socket, which from now on is the server's.
    package func serve(_ listener: Listener, role: ControlRole) {
        listeners.append(listener)
        listener.onAccept = { [weak self] descriptor, _ in self?.accept(descriptor, role: role) }
        listener.onShortage = { [log] error in
            log.error("Cannot accept control connections for now", ["error": "\(error)"])
        }
    }

    /// Serves a client that is connected already, or closes the connection when it may not be served.
    package func accept(_ descriptor: consuming Descriptor, role: ControlRole) {
        do throws(Errno) {
            let credentials = try PeerCredentials(of: descriptor.raw)
            guard let client = admit(credentials, role) else { return LocalSocket.close(descriptor) }
            let connection = try ControlConnection(
                descriptor, client: client, on: loop, limits: limits, delegate: self)
            connections[ObjectIdentifier(connection)] = connection
        } catch {
            log.error("Cannot serve a control connection", ["error": "\(error)"])
        }
    }

    /// Accepts nobody any more; the connections that there are go on.
    package func stopAccepting() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// Ends every connection after what was answered so far; new ones wait until ``resume()``.
    package func pause() {
        for listener in listeners { listener.pause() }
        endConnections()
    }

    /// Accepts again after ``pause()``.
    package func resume() {
        for listener in listeners { listener.resume() }
    }

    /// Ends every connection after what was answered so far; open calls are abandoned.
    package func stop() {
        stopAccepting()
        endConnections()
    }

    private func endConnections() {
        for connection in connections.values { connection.end() }
        for (_, stream) in upgraded.values { stream.close() }
    }

    // MARK: - Clients

    private func admit(_ credentials: PeerCredentials, _ role: ControlRole) -> ClientIdentity? {
        guard credentials.uid == userID else {
            refusals.notice("Refused a control connection of another user", ["uid": "\(credentials.uid)"])
            return nil
        }
        let alike = connections.values.filter { $0.client.role == role }
        let isFull = role == .app && alike.count >= limits.appConnections
        guard !isFull, connections.count < limits.connections else {
            let limit = isFull ? limits.appConnections : limits.connections
            refusals.notice("Refused a control connection: too many", ["limit": "\(limit)"])
            return nil
        }
        let group = group(credentials.pid)
        guard alike.count(where: { $0.client.group == group }) < limits.connectionsPerGroup else {
            refusals.notice(
                "Refused a control connection: too many of one program",
                ["limit": "\(limits.connectionsPerGroup)", "program": "\(group)"])
            return nil
        }
        return ClientIdentity(pid: credentials.pid, uid: credentials.uid, group: group, role: role)
    }

    func upgraded(_ stream: UpgradedStream, of connection: ControlConnection) {
        forget(connection)
        upgraded[ObjectIdentifier(connection)] = (connection, stream)
    }

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
    }

    // MARK: - Calls

    func serve(_ call: VarlinkCall, _ id: VarlinkCallID, of connection: ControlConnection) {
        let open = ControlCall(call, id: id, client: connection.client, connection: connection)
        connection.track(open)
        let service = connection.client.role == .control ? services.control : services.app
        if let reply = service.reply(to: call) {
            if let error = reply.error {
                open.fail(error, reply.parameters)
            } else {
                open.reply(reply.parameters)
            }
        } else if call.interface == ControlNames.controlInterface, connection.client.group.isSandbox {
            refusals.notice("Refused a sandboxed process the control interface", ["pid": "\(connection.client.pid)"])
            open.fail(VarlinkService.permissionDenied)
        } else {
            onCall(open)
        }
    }
}
