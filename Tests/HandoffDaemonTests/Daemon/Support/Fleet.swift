import Dispatch
import HandoffControl
import HandoffDaemon
import HandoffModel
import LoopIO
import Synchronization
import Testing

/// How often the clock of a fleet has moved on.
private final class Ticks: Sendable {
    let count = Atomic(0)
}

/// Whole daemons on one loop, which belongs to the test's thread: real sockets, state folders and control connections;
/// only discovery and time are fakes.
///
/// The clock runs with the real one, and tests move it on where they would otherwise have to wait.
final class Fleet {
    /// Real time after which a test that waits for something has failed.
    private static let patience = 12

    let clock = ManualClock()
    let loop: EventLoop
    let air = FakeAir()
    private let ticker: any DispatchSourceTimer
    private let ticks = Ticks()
    private(set) var devices: [TestDevice] = []

    init() throws {
        let clock = clock
        let loop = try EventLoop(clock: clock)
        let ticks = ticks
        self.loop = loop
        ticker = DispatchSource.makeTimerSource(queue: .global())
        ticker.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(10))
        ticker.setEventHandler {
            clock.advance(by: .milliseconds(10))
            ticks.count.add(1, ordering: .relaxed)
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
        try poll("the account settles", sourceLocation) {
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
            if isHanging { dumpState(); for device in devices { print(device.report) } }
            try #require(!isHanging, "in vain: \(what)", sourceLocation: sourceLocation)
            try loop.run()
        }
    }

    /// Runs the loop until `isDone`, which may ask the daemons; it is asked again when time has passed.
    func poll(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool
    ) throws {
        var asked: Int?
        try run(what, sourceLocation) {
            let now = ticks.count.load(ordering: .relaxed)
            if asked == now { return false }
            asked = now
            return try isDone()
        }
    }

    /// Lets time pass at once; what is due then happens while the test waits for its next event.
    func pass(_ time: Duration) {
        clock.advance(by: time)
    }
}
extension Fleet {
    func dumpState() {
        for device in devices {
            if let s = try? device.status() { print("STATE", device.name, s.device.short, s.epoch ?? 0, s.warnings, s.tickets.map(\.id), s.peers.map { "\($0.name ?? "?") \($0.address ?? "-") \($0.via) c=\($0.connected) a=\($0.activities)" }) }
        }
    }
}
