import HandoffAccount
import HandoffControl
import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Whole daemons on one loop, which belongs to the test's thread. Sockets, state folders and
/// control connections are real. Only discovery and time are simulated.
///
/// The clock runs in real time while a test waits, and tests advance it to avoid long waits. Fleet
/// and devices keep each other alive, so that nothing ends before the test calls `end`.
final class Fleet {
    private let clocked: ClockedLoop
    var clock: ManualClock { clocked.clock }
    var loop: EventLoop { clocked.loop }
    let network = FakeNetwork()
    /// The network of the pairing service. It has another service type, so the first network never
    /// sees it.
    let pairingNetwork = FakeNetwork()
    private(set) var devices: [TestDevice] = []

    init() throws {
        clocked = try ClockedLoop()
    }

    /// Stops all daemons in order.
    func end() {
        for device in devices { try? device.stop() }
        devices = []
    }

    /// The wall clock of all devices, in seconds since 1970. It advances with the other clock.
    var unixSeconds: UInt64 { FleetWallClock(clock: clock).unixSeconds }

    /// Seconds since 2001-01-01 UTC, the epoch of activities.
    var appleSeconds: Double { Double(unixSeconds) - 978_307_200 }

    /// Starts a device without an account.
    func device(_ name: String, configure: (TestDevice) -> Void = { _ in }) throws -> TestDevice {
        let device = try TestDevice(name, self)
        devices.append(device)
        configure(device)
        try device.start()
        return device
    }

    /// Starts devices of one account, which know each other and have no pending work.
    func account(_ names: String..., configure: (TestDevice) -> Void = { _ in }) throws -> [TestDevice] {
        let members = try names.map { try device($0, configure: configure) }
        let founder = try #require(members.first)
        _ = try founder.call(.createAccount)
        for member in members.dropFirst() {
            try member.importAccount(try founder.exportAccount())
            try settle(members.filter { try $0.status().account != nil })
        }
        return members
    }

    /// Waits until exactly these devices are one account. All are online for each other in one
    /// epoch, no ticket is open, all have stored the same statements, and none has an epoch to
    /// create. Without the last condition, two epochs of one number could be in force for a moment
    /// on two sides.
    func settle(_ members: [TestDevice], sourceLocation: SourceLocation = #_sourceLocation) throws {
        try poll("the account settles", sourceLocation) {
            let states = try members.map { try $0.status() }
            return try Set(states.map(\.epoch)).count == 1
                && states.allSatisfy {
                    $0.peers.count == members.count - 1 && $0.tickets.isEmpty && $0.warnings.isEmpty
                }
                && haveSettled(members.map { try $0.storedAccount() }, states)
        }
    }

    private func haveSettled(_ accounts: [AccountState?], _ states: [ControlStatus]) -> Bool {
        Set(accounts.map { $0?.roster.digest }).count == 1
            && zip(accounts, states).allSatisfy { account, state in
                // The daemons are queried one after the other, and a new epoch may have arrived in
                // between. Then the statements are already equal, and the key is still in transit.
                guard let account, account.isCurrent, account.epoch.map(UInt64.init) == state.epoch else {
                    return false
                }
                let due = account.epochDue(for: state.device, now: unixSeconds, keyAwaited: .zero)
                return due == nil || due?.reason == .old
            }
    }

    /// Runs the loop until `isDone`, which is evaluated after each event and each tick of the
    /// clock.
    func run(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool
    ) throws {
        do {
            try clocked.run(what, until: isDone)
        } catch let timeout as ClockedLoop.Timeout {
            try report(timeout, sourceLocation)
        }
    }

    private func report(_ timeout: ClockedLoop.Timeout, _ sourceLocation: SourceLocation) throws {
        for device in devices { print(device.report) }
        try #require(Bool(false), "timed out: \(timeout)", sourceLocation: sourceLocation)
    }

    /// Runs the loop until `isDone`, which may call the daemons. It is evaluated again when time
    /// has passed.
    func poll(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool
    ) throws {
        do {
            try clocked.poll(what, until: isDone)
        } catch let timeout as ClockedLoop.Timeout {
            try report(timeout, sourceLocation)
        }
    }

    /// Runs `body` while the clock is stopped, for steps that must complete within a timeout of the
    /// product. Then the speed of the machine has no effect. `body` must not wait for a timer.
    func withClockStopped<Result>(_ body: () throws -> Result) rethrows -> Result {
        try clocked.withClockStopped(body)
    }

    /// Advances the clock. Due timers run while the test waits for its next event.
    func pass(_ time: Duration) {
        clocked.pass(time)
    }
}
