import HandoffModel
import HandoffProtocol
import Testing

/// Devices that lose each other in any sequence of failures see each other again after the network
/// is repaired.
@Suite struct OutageTests {
    /// Cuts and repairs single routes at random.
    private func fail(_ simulation: inout OutageSimulation, _ count: Int, _ random: inout FixedRandom) throws {
        let one = Int.random(in: 0..<count, using: &random)
        let other = (one + Int.random(in: 1..<count, using: &random)) % count
        switch Int.random(in: 0..<6, using: &random) {
        case 0: simulation.setMulticast(one, Bool.random(using: &random))
        case 1: try simulation.change(one)
        case 2:
            let cut = OutageSimulation.Route(datagramsPass: false, tcp: .silent)
            simulation.setRoute(from: one, to: other, cut)
            simulation.setRoute(from: other, to: one, cut)
        default:
            let tcp = OutageSimulation.Route.TCP.allCases.randomElement(using: &random) ?? .open
            simulation.setRoute(
                from: one, to: other, .init(datagramsPass: Bool.random(using: &random), tcp: tcp))
        }
    }

    /// More seeds find nothing new in unchanged code. After a change of the rules, run 4,000.
    @Test(arguments: UInt64(0)..<150) func `all devices see each other within five seconds of the last repair`(
        seed: UInt64
    ) throws {
        var random = FixedRandom(state: seed)
        let count = Int.random(in: 2...4, using: &random)
        var simulation = try OutageSimulation(count)
        // Some of the failures occur while the devices detect each other for the first time.
        if Bool.random(using: &random) { try simulation.run(for: 5000) }
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            try fail(&simulation, count, &random)
            try simulation.run(for: UInt64.random(in: 0...15_000, using: &random))
        }
        simulation.repairAll()
        for _ in 0..<Int.random(in: 0...1, using: &random) { try simulation.change(0) }

        try simulation.run(for: 5000)

        #expect(simulation.areTogether, "seed \(seed)")
        #expect(simulation.longestReturn <= 2000, "seed \(seed): \(simulation.longestReturn) ms")
    }

    /// A device that is off causes a limited number of packets, and none after two hours.
    @Test func `the search for a device that is off slows down and ends`() throws {
        var simulation = try OutageSimulation(2)
        try simulation.run(for: 5000)
        simulation.setMulticast(1, false)
        for (one, other) in [(0, 1), (1, 0)] {
            simulation.setRoute(from: one, to: other, .init(datagramsPass: false, tcp: .silent))
        }
        try simulation.change(0)
        try simulation.run(for: 20_000)
        #expect(try !simulation.sees(0, 1))
        func packets(in minutes: UInt64) throws -> Int {
            let before = simulation.packets
            try simulation.run(for: minutes * 60_000)
            return simulation.packets - before
        }

        // Datagrams, and the first packets of connection attempts with their repetitions.
        #expect(try packets(in: 1) <= 60)
        // The other device detects only after ten minutes that nothing arrives, and then also
        // searches.
        _ = try packets(in: 58)
        #expect(try packets(in: 1) <= 24)
        _ = try packets(in: 75)
        #expect(try packets(in: 10) == 0)
    }

    private func table(named hosts: [UInt8], freshUntil: UInt64?) throws -> PeerTable {
        var table = PeerTable(own: try Samples.device(200), ownPosition: Position(generation: 50, seq: 0))
        let label = try Samples.label(1)
        _ = table.receivedBeacon(
            try Samples.announcement(1), label: label, instance: label.instanceName,
            addresses: try hosts.map { try Samples.address($0) }, freshUntil: freshUntil.map(Samples.at),
            at: Samples.at(0))
        return table
    }

    @Test func `an address known only from a record is tried while the record is fresh`() throws {
        let device = try Samples.device(1)
        var table = try table(named: [1], freshUntil: 300_000)
        _ = table.drop(device, because: .unreachable, at: Samples.at(1000))
        let lost = try #require(table.lost(device))
        #expect(lost.addresses(at: Samples.at(299_000)) == [try Samples.address(1)])
        #expect(lost.addresses(at: Samples.at(300_000)) == [])

        // The record was fresh by an echo but is not fresh by its period.
        table = try self.table(named: [1], freshUntil: nil)
        _ = table.drop(device, because: .unreachable, at: Samples.at(1000))
        #expect(!table.hasLost)
    }

    @Test func `a proved address is tried but the source of a datagram is not`() throws {
        let device = try Samples.device(1)
        var table = try table(named: [], freshUntil: nil)
        _ = table.receivedAdvert(
            try Samples.announcement(1), label: try Samples.label(1), source: try Samples.address(7), at: Samples.at(0))
        _ = table.receivedHello(
            try Samples.hello(label: 1), from: device, address: try Samples.address(1), at: Samples.at(0))
        table.addressFailed(try Samples.address(1), of: device)
        _ = table.drop(device, because: .unreachable, at: Samples.at(1000))
        #expect(try #require(table.lost(device)).addresses(at: Samples.at(1000)) == [try Samples.address(1)])
    }

    @Test func `a device that leaves, sleeps or is removed is not searched for`() throws {
        for leaveReason in [LeaveReason.goodbye, .sleep] {
            var table = try table(named: [1], freshUntil: 300_000)
            _ = table.drop(try Samples.device(1), because: .unreachable, at: Samples.at(1000))
            let announcement = try Samples.announcement(1, seq: 1, leaveReason: leaveReason)
            _ = table.receivedAdvert(announcement, label: try Samples.label(1), source: nil, at: Samples.at(2000))
            #expect(!table.hasLost)
            #expect(table.recover(try Samples.device(1), at: Samples.at(3000)) == [])
        }
        var table = try table(named: [1], freshUntil: 300_000)
        _ = table.drop(try Samples.device(1), because: .unreachable, at: Samples.at(1000))
        _ = table.retain([])
        #expect(!table.hasLost)
    }
}
