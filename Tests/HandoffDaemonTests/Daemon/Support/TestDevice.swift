import Glibc
import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffDaemon

/// A device of a `Fleet`: a whole daemon, its state folder, and its control socket.
final class TestDevice {
    let name: String
    let fleet: Fleet
    /// The state folder.
    var state: ScratchFolder
    private let sockets: ScratchFolder
    private let sink = MemorySink()
    var configuration = Configuration()
    /// The seconds by which its clock differs from that of the fleet.
    let clockDifference = Locked<Int64>(0)
    /// The access to apps and to their start.
    var apps = DesktopAccess.none
    /// The discovery of the current core. It changes after the device has left an account.
    var discovery: FakeDiscovery { latestDiscovery.withLock { $0 } }
    private let latestDiscovery: Locked<FakeDiscovery>
    /// The address of the daemon while it runs.
    private(set) var address = SocketAddress(.loopbackIPv4, port: 0)
    /// The daemon's UDP socket while it runs; the daemon owns it.
    private var datagrams: Int32 = -1
    /// The daemon's listening TCP socket while it runs; the daemon owns it.
    private var connections: Int32 = -1
    private(set) var daemon: Daemon?
    /// The calls that a program would keep open. Unreferenced calls would otherwise end before the
    /// test does.
    private var kept: [OpenCall] = []

    init(_ name: String, _ fleet: Fleet) throws {
        self.name = name
        self.fleet = fleet
        state = try ScratchFolder()
        sockets = try ScratchFolder()
        configuration.address = .loopbackIPv4
        // The default ports are few, and tests run in parallel.
        configuration.port = .any
        let discovery = fleet.network.station()
        fleet.network.remove(discovery)
        latestDiscovery = Locked(discovery)
    }

    /// The path of the control socket.
    var controlPath: String { sockets.file("control.socket") }

    /// All entries of the daemon's log.
    var log: [String] { sink.entries.map(\.line) }

    /// The log, for a failed test.
    var report: String {
        let lines = log.filter { !$0.contains("Control connection ended") }
        return (["--- \(name) at \(address), \(String(describing: discovery.publication?.instance))"] + lines)
            .joined(separator: "\n")
    }

    /// Starts the daemon on the state folder.
    func start() throws {
        let loop = fleet.loop
        let stored = try openState()
        let daemon = Daemon(loop: loop, log: Logger(subsystem: name, sink: sink, level: .debug))
        self.daemon = daemon
        let path = controlPath
        let configuration = configuration
        let name = name
        let apps = apps
        let clock = fleet.clock
        let clockDifference = clockDifference
        let network = fleet.network
        let latest = latestDiscovery
        let makeDiscovery: @Sendable () -> any Discovery = {
            let discovery = network.station()
            latest.withLock { $0 = discovery }
            return discovery
        }
        let pairingNetwork = fleet.pairingNetwork
        let makeStation: @Sendable () -> any Discovery = { pairingNetwork.station() }
        let pairingDiscovery = configuration.discovery == .static ? nil : makeStation
        let bound = try daemon.assumeIsolated { daemon in
            let port = try BoundPort(port: 0, address: .loopbackIPv4)
            let bound = (port: port.port, datagrams: port.udp.raw, connections: port.tcp.raw)
            let sockets = Daemon.Sockets(
                port: port, clients: [(listener: try Listener(unixPath: path, on: loop), role: .control)])
            try daemon.start(
                sockets, configuration: configuration, stored: stored, name: name, discovery: makeDiscovery,
                pairingDiscovery: pairingDiscovery, userID: geteuid(), apps: apps,
                group: { .process($0) }, wallClock: FleetWallClock(clock: clock, difference: clockDifference))
            daemon.startDiscovery()
            return bound
        }
        address = SocketAddress(.loopbackIPv4, port: bound.port)
        datagrams = bound.datagrams
        connections = bound.connections
    }

    /// Applies another configuration and policy to the running daemon, as a reload does.
    func reconfigure(policy: Policy = Policy(), _ change: (inout Configuration) -> Void = { _ in }) {
        change(&configuration)
        daemon?.assumeIsolated { [configuration] in $0.reconfigure(configuration, policy: policy) }
    }

    /// Stops the daemon in order, with leave messages.
    func stop() throws {
        guard let hasStopped = beginToStop() else { return }
        try fleet.run("\(name) stops") { hasStopped.withLock { $0 } }
    }

    /// Starts stopping the daemon in order. The result becomes true once it has stopped.
    func beginToStop() -> Locked<Bool>? {
        guard let daemon else { return nil }
        let hasStopped = Locked(false)
        daemon.assumeIsolated { daemon in
            daemon.stop { hasStopped.withLock { $0 = true } }
        }
        self.daemon = nil
        return hasStopped
    }

    // MARK: - Network failures

    /// Drops all incoming datagrams, as a firewall does, including leave messages of others.
    func blockDatagrams() { PacketFilter.dropAll(datagrams) }

    /// Stops dropping datagrams.
    func unblockDatagrams() { PacketFilter.dropNothing(datagrams) }

    /// Leaves new connections unanswered.
    func blockConnections() { PacketFilter.dropAll(connections) }

    /// Answers new connections again.
    func unblockConnections() { PacketFilter.dropNothing(connections) }

    /// Stops all data on the connections that others have opened to this device, in both directions
    /// and without notification.
    func freezeConnections() {
        for descriptor in PacketFilter.connections(of: address.port) { PacketFilter.dropAll(descriptor) }
    }

    /// Ends without a datagram or a record that announces it, as in a crash. An open connection may
    /// still carry a leave message.
    func vanish(unnoticedBy others: TestDevice...) throws {
        for other in others {
            other.blockDatagrams()
            other.discovery.stopReceiving()
        }
        try stop()
        for other in others { other.unblockDatagrams() }
    }

    // MARK: - Control

    /// Opens a connection to the control socket with one call on it.
    func open(
        _ method: String, _ parameters: JSONObject = [:], more: Bool = false, upgrade: Bool = false,
        passing passed: PassedFile? = nil
    ) throws -> OpenCall {
        let stream = try ByteStream(try UnixSocket.connect(to: controlPath), on: fleet.loop)
        let call = OpenCall(
            VarlinkCall(method: method, parameters: parameters, more: more, upgrade: upgrade), on: stream,
            passing: passed, fleet)
        if more { kept.append(call) }
        return call
    }

    /// Calls a method of the control interface that has one reply.
    func call(_ method: ControlMethod, _ parameters: JSONObject = [:]) throws -> JSONObject {
        try open(method.rawValue, parameters).result()
    }

    func status() throws -> ControlStatus {
        try ControlStatus(json: try call(.getStatus))
    }

    func deviceList() throws -> [ControlDevice] {
        let list = try #require(try call(.listDevices)["devices"]?.array)
        return try list.map { try ControlDevice(json: try #require($0.object)) }
    }

    func offers() throws -> [OfferedActivity] {
        let list = try #require(try call(.listActivities)["activities"]?.array)
        return try list.map { try OfferedActivity(json: try #require($0.object)) }
    }

    /// Watches the offers of the other devices.
    func watch() throws -> Watcher { Watcher(try open(ControlMethod.watch.rawValue, more: true)) }

    /// Attaches an app.
    func attach(_ app: String, team: String? = nil, types: String...) throws -> TestApp {
        let types = try types.map { try #require(ActivityType($0)) }
        let request = AttachRequest(app: app, version: "2.1", team: team, types: types)
        return try TestApp(self, try open(AppMethod.attach.rawValue, request.json, more: true))
    }

    /// Publishes one activity without an app. It is current immediately, and ends with the
    /// connection.
    func publish(_ activity: ActivityDescription) throws -> Publisher {
        try Publisher(
            try open(AppMethod.publish.rawValue, ["activity": .object(activity.json)], more: true))
    }

    /// Starts continuing an activity.
    func `continue`(_ request: ContinueRequest = ContinueRequest()) throws -> OpenCall {
        try open(ControlMethod.continue.rawValue, request.json, more: true)
    }

    // MARK: - Account files

    /// Returns the bytes of an account file; none if the daemon refuses to write one.
    func exportAccount(passphrase: String = "") throws -> [UInt8] {
        let call = try open(ControlMethod.exportAccount.rawValue, upgrade: true)
        _ = try call.result()
        call.stream.write(Self.passphraseBytes(passphrase))
        return try call.rest()
    }

    /// Sends an account file to the daemon.
    /// - Returns: the daemon's reply.
    func offerAccountFile(_ file: [UInt8], passphrase: String = "") throws -> JSONObject {
        try answerToImport(of: Self.passphraseBytes(passphrase) + file)
    }

    /// Sends bytes in place of a passphrase and an account file.
    func answerToImport(of bytes: [UInt8]) throws -> JSONObject {
        let call = try open(ControlMethod.importAccount.rawValue, upgrade: true)
        _ = try call.result()
        call.stream.write(bytes)
        call.stream.shutdownWrite()
        let answer = try call.rest()
        return try #require(try JSON(parsing: Array(answer.dropLast()), limits: JSONLimits(bytes: 4096)).object)
    }

    /// The beginning of a stream with an account file.
    static func passphraseBytes(_ passphrase: String) -> [UInt8] {
        let bytes = Array(passphrase.utf8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    /// Joins the account of a file. Returns when a member has admitted the device.
    func importAccount(_ file: [UInt8], passphrase: String = "") throws {
        let answer = try offerAccountFile(file, passphrase: passphrase)
        try #require(answer["error"] == nil, "\(name) did not join: \(answer)")
        // The reply arrives after at most eight seconds, and joining continues.
        try fleet.poll("\(name) has joined") { try status().standing == .member }
    }

    /// Imports a file while no member that would admit the device is reachable.
    @discardableResult func beginImport(_ file: [UInt8]) throws -> OpenCall {
        let call = try open(ControlMethod.importAccount.rawValue, upgrade: true)
        _ = try call.result()
        call.stream.write(Self.passphraseBytes("") + file)
        call.stream.shutdownWrite()
        kept.append(call)
        try fleet.poll("the file is stored") { try status().account != nil }
        return call
    }
}
