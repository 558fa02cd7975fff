import HandoffAccount
import HandoffControl
import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing
import Timing

/// Whole daemons on one loop, which belongs to the test's thread: real sockets, state folders and control connections;
/// only discovery and time are fakes.
///
/// The clock runs with the real one while a test waits, and tests move it on where they would otherwise have to wait
/// long. Fleet and devices hold each other, so that nothing ends before the test does: it calls `end`.
final class Fleet {
    private let clocked: ClockedLoop
    var clock: ManualClock { clocked.clock }
    var loop: EventLoop { clocked.loop }
    let network = FakeNetwork()
    /// The network of the pairing service, which is another type of service and so never seen by the first.
    let pairingNetwork = FakeNetwork()
    private(set) var devices: [TestDevice] = []

    init() throws {
        clocked = try ClockedLoop()
    }

    /// Ends all daemons in order.
    func end() {
        for device in devices { try? device.stop() }
        devices = []
    }

    /// The wall clock of all devices, in seconds since 1970; it goes with the other clock.
    var unixSeconds: UInt64 { FleetWallClock(clock: clock).unixSeconds }

    /// Seconds since 2001-01-01 UTC, as activities count them.
    var appleSeconds: Double { Double(unixSeconds) - 978_307_200 }

    /// A device that runs, in no account.
    func device(_ name: String, configure: (TestDevice) -> Void = { _ in }) throws -> TestDevice {
        let device = try TestDevice(name, self)
        devices.append(device)
        configure(device)
        try device.start()
        return device
    }

    /// Devices of one account, which know each other and have nothing left to do.
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

    /// Waits until these devices, and no others, are one account: all see all, in one epoch, with no ticket open, and all
    /// have stored the same statements, and have no epoch to make: two epochs of one number may be in force for a moment
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
                // The daemons were asked one after the other, and a new epoch may have come between: then the statements
                // are the same already, and the key is still on its way.
                guard let account, account.isCurrent, account.epoch.map(UInt64.init) == state.epoch else {
                    return false
                }
                let due = account.epochDue(for: state.device, now: unixSeconds, keyAwaited: .zero)
                return due == nil || due?.reason == .old
            }
    }

    /// Runs the loop until `isDone`; asked again after each event and each tick of the clock.
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
        try #require(Bool(false), "in vain: \(timeout)", sourceLocation: sourceLocation)
    }

    /// Runs the loop until `isDone`, which may ask the daemons; it is asked again when time has passed.
    func poll(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool
    ) throws {
        do {
            try clocked.poll(what, until: isDone)
        } catch let timeout as ClockedLoop.Timeout {
            try report(timeout, sourceLocation)
        }
    }

    /// Does something that must be over within a time of the product, while the clock stands: then the time that the machine
    /// takes for it does not matter. Only for what waits for no timer.
    func withClockStanding<Result>(_ body: () throws -> Result) rethrows -> Result {
        try clocked.withClockStanding(body)
    }

    /// Lets time pass at once; what is due then happens while the test waits for its next event.
    func pass(_ time: Duration) {
        clocked.pass(time)
    }
}
