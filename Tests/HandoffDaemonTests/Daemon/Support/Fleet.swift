import Dispatch
import HandoffControl
import HandoffDaemon
import LoopIO
import Synchronization
import Testing

/// Whole daemons on one loop, which belongs to the test's thread: real sockets, state folders and control connections;
/// only discovery and time are fakes.
///
/// The clock runs with the real one, and tests move it on where they would otherwise have to wait.
final class Fleet {
    /// Real time after which a test that waits for something has failed.
    private static let patience = 30

    let clock = ManualClock()
    let loop: EventLoop
    let air = FakeAir()
    private let ticker: any DispatchSourceTimer
    private(set) var devices: [TestDevice] = []

    init() throws {
        let clock = clock
        let loop = try EventLoop(clock: clock)
        self.loop = loop
        ticker = DispatchSource.makeTimerSource(queue: .global())
        ticker.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(10))
        ticker.setEventHandler {
            clock.advance(by: .milliseconds(10))
            // Whoever waits looks again.
            loop.stop()
        }
        ticker.resume()
    }

    deinit {
        ticker.cancel()
    }

    /// The wall clock of all devices, in seconds since 1970; it goes with the other clock.
    var unixSeconds: UInt64 { Self.unixSeconds(clock) }

    /// Seconds since 2001-01-01 UTC, as activities count them.
    var appleSeconds: Double { Double(unixSeconds) - 978_307_200 }

    static func unixSeconds(_ clock: ManualClock) -> UInt64 {
        1_800_000_000 + clock.now.nanoseconds / 1_000_000_000
    }

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
            // One after the other: each joins by a ticket of its own, and each ticket is closed by a new epoch.
            try settle(members.filter { try $0.status().account != nil })
        }
        return members
    }

    /// Waits until these devices, and no others, are one account: all see all, in one epoch, with no ticket open.
    func settle(_ members: [TestDevice], sourceLocation: SourceLocation = #_sourceLocation) throws {
        try run("the account settles", sourceLocation) {
            let states = try members.map { try $0.status() }
            return Set(states.map(\.epoch)).count == 1
                && states.allSatisfy {
                    $0.peers.count == members.count - 1 && $0.tickets.isEmpty && $0.warnings.isEmpty
                }
        }
    }

    /// Runs the loop until `isDone`; asked again after each event and each tick of the clock.
    func run(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool
    ) throws {
        let isLate = Atomic(false)
        let guardian = DispatchWorkItem { isLate.store(true, ordering: .relaxed) }
        // Only for a test that would hang.
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.patience), execute: guardian)
        defer { guardian.cancel() }
        while try !isDone() {
            let isHanging = isLate.load(ordering: .relaxed)
            if isHanging { for device in devices { print(device.report) } }
            try #require(!isHanging, "in vain: \(what)", sourceLocation: sourceLocation)
            try loop.run()
        }
    }

    /// Lets time pass at once; what is due then happens while the test waits for its next event.
    func pass(_ time: Duration) {
        clock.advance(by: time)
    }
}
