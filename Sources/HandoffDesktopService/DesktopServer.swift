import HandoffControl
package import LoopIO

/// Accepts the daemon's connections, and dispatches their calls. Use on the loop's thread.
package final class DesktopServer {
    /// The maximum number of open connections: four that follow something, and one for each call.
    private static let maxConnections = 64

    /// Called when the last connection has ended. Called immediately if there are none.
    var onIdle: (() -> Void)? {
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
    ///   - version: The version for `GetInfo`.
    ///   - userID: The user whose processes are admitted.
    ///   - onCall: Receives each call of a known method, with `more` if and only if it is a stream.
    package init(
        loop: EventLoop, log: Logger, version: String, userID: UInt32, onCall: @escaping (DesktopCall) -> Void
    ) {
        self.loop = loop
        self.log = log
        self.userID = userID
        self.onCall = onCall
        description = VarlinkService(version: version, interfaces: [HandoffInterfaces.desktop].compactMap(\.self))
    }

    /// True if there are no connections.
    var isIdle: Bool { connections.isEmpty }

    /// Accepts connections on a listening Unix socket.
    func serve(_ listener: Listener) {
        listeners.append(listener)
        listener.onAccept = { [weak self] descriptor, _ in self?.accept(descriptor) }
        listener.onShortage = { [log] in log.error("Cannot accept connections for now", ["error": "\($0)"]) }
    }

    /// Serves a connected socket, or closes it if the peer is not admitted.
    package func accept(_ descriptor: consuming Descriptor) {
        do throws(Errno) {
            guard try PeerCredentials(of: descriptor.raw).uid == userID, connections.count < Self.maxConnections else {
                log.notice("Refused a connection from another user, or above the limit")
                return LocalSocket.close(descriptor)
            }
            let connection = try DesktopConnection(descriptor, on: loop, server: self)
            connections[ObjectIdentifier(connection)] = connection
        } catch {
            log.error("Cannot serve a connection", ["error": "\(error)"])
        }
    }

    /// Ends all connections, and stops accepting new ones.
    package func stop() {
        for listener in listeners { listener.close() }
        listeners = []
        for connection in connections.values { connection.end() }
    }

    /// Called once, when a connection has ended.
    func ended(_ connection: DesktopConnection, _ reason: VarlinkServerMachine.Reason) {
        if case .protocolViolation(let error) = reason { log.notice("Closed a connection", ["reason": "\(error)"]) }
        connections[ObjectIdentifier(connection)] = nil
        if connections.isEmpty { onIdle?() }
    }

    /// Serves a call. The reply may follow later.
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
