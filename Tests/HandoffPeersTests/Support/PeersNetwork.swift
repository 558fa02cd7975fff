import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

/// Devices on one loop with real loopback sockets. Only discovery and the clock are fakes.
final class PeersNetwork {
    private let clocked: ClockedLoop
    let discovery = FakeNetwork()
    private(set) var devices: [TestPeers] = []

    init() throws {
        clocked = try ClockedLoop()
    }

    var loop: EventLoop { clocked.loop }
    var clock: ManualClock { clocked.clock }
    var unixSeconds: UInt64 { FleetWallClock(clock: clock).unixSeconds }

    /// Stops all devices.
    func end() {
        for device in devices { device.stop() }
        devices = []
    }

    /// Starts devices that are members of one account, and waits until they have found each other.
    func account(_ names: String...) throws -> [TestPeers] {
        let folders = try names.map { _ in try ScratchFolder() }
        let ids = try createAccount(names, in: folders)
        devices = zip(names, zip(ids, folders)).map { TestPeers($0, $1.0, $1.1, self) }
        for device in devices { try device.start() }
        try settle(devices)
        return devices
    }

    /// Starts a device that is not in an account.
    func device(_ name: String) throws -> TestPeers {
        let folder = try ScratchFolder()
        let id = DeviceID(try StateFolder.open(folder.path, now: unixSeconds).identity.publicKey)
        let device = TestPeers(name, id, folder, self)
        devices.append(device)
        try device.start()
        return device
    }

    /// Stores an account in the state folders of its members.
    private func createAccount(_ names: [String], in folders: [ScratchFolder]) throws -> [DeviceID] {
        let stored = try folders.map { try StateFolder.open($0.path, now: unixSeconds) }
        let founder = try #require(stored.first).identity
        var account = try AccountState.creating(device: founder, name: names[0], now: unixSeconds)
        for (name, member) in zip(names, stored).dropFirst() {
            account = try account.admitting(member.identity.publicKey, name: name, by: founder)
        }
        let key = try #require(account.held).accountKey
        return try stored.map { member in
            let id = DeviceID(member.identity.publicKey)
            try member.folder.store(
                account: try AccountState.joining(account.roster, device: id, accountKey: key, now: unixSeconds))
            return id
        }
    }

    /// Waits until each of the devices has found exactly the others, with the same roster and the
    /// account key in force.
    func settle(_ devices: [TestPeers], sourceLocation: SourceLocation = #_sourceLocation) throws {
        try poll("the devices find each other", sourceLocation) {
            devices.allSatisfy { device in
                let others = Set(devices.map(\.id)).subtracting([device.id])
                return Set(device.peers.table.all.map(\.deviceID)) == others
                    && device.accountStore.snapshot.isCurrent
                    && device.accountStore.snapshot.rosterDigest == devices[0].accountStore.snapshot.rosterDigest
            }
        }
    }

    /// Runs the loop until `isDone`, which is evaluated after each event and each tick of the
    /// clock.
    func run(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool
    ) throws {
        try report(sourceLocation) { try clocked.run(what, until: isDone) }
    }

    /// Connects a device to another one.
    func connect(_ device: TestPeers, to other: TestPeers) throws {
        device.peers.notifyOrigin(other.id, "test", try offer("connected").activity.id)
        try run("the link") { device.peers.isConnected(other.id) && other.peers.isConnected(device.id) }
    }

    /// Runs the loop until `isDone`, which is evaluated after each tick of the clock.
    func poll(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool
    ) throws {
        try report(sourceLocation) { try clocked.poll(what, until: isDone) }
    }

    private func report(_ sourceLocation: SourceLocation, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let timeout as ClockedLoop.Timeout {
            for device in devices { print(device.report) }
            try #require(Bool(false), "without success: \(timeout)", sourceLocation: sourceLocation)
        }
    }

    /// Advances the clock.
    func pass(_ time: Duration) { clocked.pass(time) }

    /// Advances the clock, and runs the timers that are due until then.
    func runTimers(for time: Duration) throws {
        var isDone = false
        let timer = loop.timer(after: time) { isDone = true }
        pass(time)
        try run("the timers") { isDone }
        timer.cancel()
    }

    /// Performs `body` while the clock is stopped. `body` must not wait for a timer.
    func withClockStopped<Result>(_ body: () throws -> Result) rethrows -> Result {
        try clocked.withClockStopped(body)
    }
}

/// Returns an offer with a title.
func offer(_ title: String, to recipient: DeviceID? = nil) throws -> LocalOffer {
    let summary = ActivitySummary(
        id: try #require(ActivityID(bytes: Randomness.bytes(ActivityID.byteCount))),
        type: try #require(ActivityType("org.example.note")), title: title, team: nil, supportsStreams: false,
        hasWebpageURL: false, age: 0, isSent: recipient != nil)
    return LocalOffer(summary, recipient: recipient)
}
