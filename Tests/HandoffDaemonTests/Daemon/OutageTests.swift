import HandoffControl
import HandoffDiscovery
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Devices that lost each other are online again when the network is, without any other event.
@Suite final class OutageTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        let devices = try fleet.account("desk", "couch")
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    private func cut(_ devices: TestDevice...) {
        for device in devices {
            device.blockDatagrams()
            device.blockConnections()
            device.freezeConnections()
        }
    }

    private func `repair`(_ devices: TestDevice...) {
        for device in devices {
            device.unblockDatagrams()
            device.unblockConnections()
        }
    }

    /// Lets simulated time pass in small steps, so that each timer runs when it is due.
    private func pass(_ seconds: Int, step: Duration = .milliseconds(250), _ devices: TestDevice...) throws {
        for _ in 0..<Int(Duration.seconds(seconds) / step) {
            fleet.pass(step)
            for device in devices { _ = try device.status() }
        }
    }

    private func see(_ device: TestDevice, _ count: Int) throws {
        try fleet.poll("\(device.name) sees \(count)") { try device.status().peers.count == count }
    }

    /// Checks that all devices are online for each other within five seconds of the return of the
    /// network.
    private func expectReturn() throws {
        let start = fleet.clock.now
        try fleet.poll("all are online") { try [desk, couch].allSatisfy { try $0.status().peers.count == 1 } }
        #expect(start.duration(to: fleet.clock.now) < .seconds(5))
    }

    @Test(arguments: [1, 30, 300]) func `devices that a failed call marked as unreachable return`(seconds: Int) throws {
        fleet.network.hold()
        cut(desk, couch)
        _ = try desk.publish(Note.activity("never received"))
        try see(desk, 0)
        try pass(seconds, desk, couch)

        `repair`(desk, couch)

        try expectReturn()
    }

    @Test func `devices return if only one still received the other`() throws {
        fleet.network.hold()
        cut(couch)
        // The couch cannot connect either, but its datagrams still arrive.
        desk.blockConnections()
        _ = try desk.publish(Note.activity("late"))
        try pass(30, desk, couch)

        `repair`(desk, couch)

        try expectReturn()
        try fleet.poll("the offer") { try couch.offers().count == 1 }
    }

    /// Their announcements from before the cut may no longer be valid, and each has another label
    /// since.
    @Test func `devices that were alone for half an hour return without multicast`() throws {
        fleet.network.hold()
        cut(desk, couch)
        _ = try desk.publish(Note.activity("never received"))
        _ = try couch.publish(Note.activity("never received"))
        try see(desk, 0)
        try see(couch, 0)
        try pass(1800, step: .seconds(10), desk, couch)

        `repair`(desk, couch)

        try fleet.poll("all are online") { try [desk, couch].allSatisfy { try $0.status().peers.count == 1 } }
    }

    @Test func `a device that sent a leave message is not searched for`() throws {
        try desk.stop()
        try see(couch, 0)
        let trap = try Trap(isElsewhere: false, port: desk.address.port)
        try pass(30, couch)
        #expect(!trap.isHit)
    }
}
