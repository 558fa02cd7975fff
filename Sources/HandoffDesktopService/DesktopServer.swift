import HandoffControl
package import HandoffLog
package import LoopIO

/// Accepts the connections of the daemon, and hands their calls on. On the loop's thread.
package final class DesktopServer: DesktopConnectionDelegate {
    /// Connections that may be open at a time: four that follow something, and one for each call.
    private static let maxConnections = 64

    /// Called when the last connection has ended, and at once if there was none.
    package var onIdle: (() -> Void)? {
        didSet { if connections.isEmpty { onIdle?() } }
    }

    private let loop: EventLoop
    private let log: Logger
    private let userID: UInt32
    private let onCall: (DesktopCall) -> Void
    private let description: VarlinkService
    private var listeners: [Listener] = []
    private var connections: [ObjectIdentifier: DesktopConnection] = [:]

    /// - Parameters:
    ///   - version: what `GetInfo` names.
    ///   - userID: whose processes are served.
    ///   - onCall: gets each call of a method that exists, with `more` if and only if it is a stream.
    package init(
        loop: EventLoop, log: Logger, version: String, userID: UInt32, onCall: @escaping (DesktopCall) -> Void
    ) {
        self.loop = loop
        self.log = log
        self.userID = userID
        self.onCall = onCall
        description = VarlinkService(version: version, interfaces: [HandoffInterfaces.desktop].compactMap(\.self))
    }

    /// Whether anybody is connected.
    package var isIdle: Bool { connections.isEmpty }

    /// Serves those who connect to a listening unix socket.
    package func serve(_ listener: Listener) {
        listeners.append(listener)
        listener.onAccept = { [weak self] descriptor, _ in self?.accept(descriptor) }
        listener.onShortage = { [log] in log.error("Cannot accept connections for now", ["error": "\($0)"]) }
    }

    /// Serves a connected socket, or closes it when its other end may not be served.
    package func accept(_ descriptor: consuming Descriptor) {
        do throws(Errno) {
            guard try PeerCredentials(of: descriptor.raw).uid == userID, connections.count < Self.maxConnections else {
                log.notice("Refused a connection: of another user, or one too many")
                return LocalSocket.close(descriptor)
            }
            let connection = try DesktopConnection(descriptor, on: loop, delegate: self)
            connections[ObjectIdentifier(connection)] = connection
        } catch {
            log.error("Cannot serve a connection", ["error": "\(error)"])
        }
    }

    /// Ends all connections, and accepts no more.
    package func stop() {
        for listener in listeners { listener.close() }
        listeners = []
        for connection in connections.values { connection.end() }
    }

    func ended(_ connection: DesktopConnection, _ reason: VarlinkServerMachine.Reason) {
        if case .protocolViolation(let error) = reason { log.notice("Ended a connection", ["reason": "\(error)"]) }
        connections[ObjectIdentifier(connection)] = nil
        if connections.isEmpty { onIdle?() }
    }

    func serve(_ call: DesktopCall) {
        if let reply = description.reply(to: call.call) {
            if let error = reply.error { call.fail(error, reply.parameters) } else { call.reply(reply.parameters) }
        } else if DesktopMethod(rawValue: call.call.method)?.isStream != call.call.more {
            call.fail(DesktopErrorName.expectedMore.rawValue)
        } else {
            onCall(call)
        }
    }
}
