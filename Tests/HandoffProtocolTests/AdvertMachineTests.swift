import HandoffModel
import HandoffProtocol
import Testing

@Suite struct AdvertMachineTests {
    /// A table and a machine, driven in the same way as by the daemon.
    private struct Rig {
        var table: PeerTable
        var machine: AdvertMachine
        var seq: UInt32 = 0

        init() throws {
            table = PeerTable(own: try Samples.device(200), ownPosition: Position(generation: 50, seq: 0))
            machine = AdvertMachine(at: Samples.at(0))
        }

        mutating func receive(_ device: UInt8, seq: UInt32 = 0, at: UInt64) throws -> [AdvertAction] {
            let announcement = try Samples.announcement(device, seq: seq)
            let label = try Samples.label(device)
            let arrival = try Samples.arrival(device)
            let reception = table.receivedAdvert(announcement, label: label, source: arrival.source, at: Samples.at(at))
            return machine.receivedAdvert(
                announcement, label: label, arrival: arrival, reception: reception, peers: table, at: Samples.at(at))
        }

        mutating func beacon(_ device: UInt8, seq: UInt32 = 0, hosts: [UInt8], at: UInt64) throws -> [AdvertAction] {
            let label = try Samples.label(device)
            _ = table.receivedBeacon(
                try Samples.announcement(device, seq: seq), label: label, instance: label.instanceName,
                addresses: try hosts.map { try Samples.address($0) }, at: Samples.at(at))
            return machine.discovered(try Samples.device(device), peers: table, at: Samples.at(at))
        }

        /// - Parameter seq: The number of the acknowledged advert; nil for the current one.
        @discardableResult
        mutating func acknowledge(_ device: UInt8, seq: UInt32? = nil, at: UInt64) throws -> [AdvertAction] {
            let position = seq.map { Position(generation: 50, seq: $0) } ?? table.ownPosition
            let id = try Samples.device(device)
            _ = table.receivedAcknowledgement(
                of: position, from: id, proving: try Samples.address(device), at: Samples.at(at))
            return machine.receivedAcknowledgement(from: id, peers: table, at: Samples.at(at))
        }

        /// - Parameter offers: True if the activities changed, false if only the label did.
        mutating func change(at: UInt64, offers: Bool = true) -> [AdvertAction] {
            seq += 1
            table.ownPosition = Position(generation: 50, seq: seq)
            if offers { table.ownListSeq = seq }
            return machine.changed(offers, peers: table, at: Samples.at(at))
        }

        /// Probes a device whose service disappeared some time ago.
        mutating func probe(_ device: DeviceID, at: UInt64) -> [AdvertAction] {
            if let instance = table[device]?.label?.instanceName { _ = table.instanceRemoved(instance) }
            _ = machine.instanceRemoved(device, peers: table, at: Samples.at(at - 3000))
            return tick(at)
        }

        mutating func tick(_ at: UInt64) -> [AdvertAction] {
            machine.deadlinePassed(peers: table, at: Samples.at(at))
        }

        var deadline: MonotonicInstant? {
            machine.nextDeadline(peers: table)
        }

        /// Adds a device that knows this one and has proved its address.
        mutating func meet(_ device: UInt8, at: UInt64 = 0) throws {
            _ = try receive(device, at: at)
            try acknowledge(device, at: at)
        }
    }

    private func send(_ device: UInt8, to host: UInt8? = nil) throws -> AdvertAction {
        .send(
            to: try Samples.address(host ?? device), device: try Samples.device(device),
            label: try Samples.label(device))
    }

    private func acknowledge(_ device: UInt8, seq: UInt32 = 0) throws -> AdvertAction {
        .acknowledge(
            Position(generation: 100, seq: seq), device: try Samples.device(device), label: try Samples.label(device),
            try Samples.arrival(device))
    }

    @Test func `a first advert is acknowledged and answered with an advert`() throws {
        var rig = try Rig()
        #expect(try rig.receive(1, at: 0) == [try acknowledge(1), try send(1)])
        #expect(rig.machine.discovered(try Samples.device(1), peers: rig.table, at: Samples.at(0)) == [])
    }

    @Test func `a repeated advert is only acknowledged again`() throws {
        var rig = try Rig()
        _ = try rig.receive(1, at: 0)
        #expect(try rig.receive(1, at: 10) == [try acknowledge(1)])
        _ = try rig.receive(1, seq: 2, at: 20)
        #expect(try rig.receive(1, seq: 1, at: 30) == [])
    }

    @Test func `acknowledgements are limited to ten per second`() throws {
        var rig = try Rig()
        var count = 0
        for _ in 0..<50 {
            count += try rig.receive(1, at: 0).filter { if case .acknowledge = $0 { true } else { false } }.count
        }
        #expect(count == 10)
    }

    @Test func `a beacon is greeted at each address once in 30 seconds`() throws {
        var rig = try Rig()
        #expect(try rig.beacon(1, hosts: [1, 2], at: 0) == [try send(1, to: 2), try send(1, to: 1)])
        #expect(try rig.beacon(1, hosts: [1, 2], at: 100) == [])
        #expect(try rig.beacon(1, hosts: [1, 2, 3], at: 200) == [try send(1, to: 3)])
        #expect(rig.deadline == Samples.at(2000))
        #expect(rig.tick(2000) == [.useConnection(try Samples.device(1))])
        #expect(rig.tick(10_000) == [])
        #expect(rig.change(at: 20_000) == [])
        #expect(rig.deadline == Samples.at(30_000))
        #expect(rig.tick(30_000) == [try send(1, to: 2), try send(1, to: 1)])
    }

    @Test func `changes after a greeting are sent when it is acknowledged`() throws {
        var rig = try Rig()
        #expect(try rig.beacon(1, hosts: [1], at: 0) == [try send(1)])
        // Too late to be combined with the greeting, and the address is not proved yet.
        #expect(rig.change(at: 40) == [])
        #expect(rig.deadline == Samples.at(30_000))
        #expect(try rig.acknowledge(1, seq: 0, at: 50) == [try send(1)])
        #expect(rig.deadline == Samples.at(80))
        #expect(try rig.acknowledge(1, at: 60) == [])
        #expect(rig.tick(30_000) == [])
    }

    @Test func `changes immediately after a greeting wait only for the minimum interval`() throws {
        var rig = try Rig()
        #expect(try rig.beacon(1, hosts: [1], at: 0) == [try send(1)])
        #expect(rig.change(at: 10) == [])
        #expect(try rig.acknowledge(1, seq: 0, at: 12) == [])
        #expect(rig.deadline == Samples.at(25))
        #expect(rig.tick(25) == [try send(1)])
    }

    @Test func `cycling addresses does not increase the greetings to one of them`() throws {
        var rig = try Rig()
        var sends: [UInt8: Int] = [:]
        for round in 0..<100 {
            let hosts = (0..<8).map { UInt8(10 + (round * 7 + $0) % 60) } + [1]
            for case .send(let address, _, _) in try rig.beacon(1, hosts: hosts, at: UInt64(round) * 100) {
                sends[address.host[3], default: 0] += 1
            }
        }
        #expect(sends.values.allSatisfy { $0 == 1 })
    }

    @Test func `a change is sent to every known device immediately and repeated until acknowledged`() throws {
        var rig = try Rig()
        try rig.meet(1)
        try rig.meet(2)
        #expect(rig.change(at: 1000) == [try send(1), try send(2)])
        try rig.acknowledge(1, at: 1001)
        var sent: [UInt64] = []
        for moment in stride(from: UInt64(1001), through: 6000, by: 1) {
            let actions = rig.tick(moment)
            if actions == [try send(2)] {
                sent.append(moment)
            } else if !actions.isEmpty {
                #expect(actions == [.useConnection(try Samples.device(2))])
                #expect(moment == 1000 + 30 + 100 + 300 + 1000 + 2000)
            }
        }
        #expect(sent == [1030, 1130, 1430, 2430])
    }

    @Test func `a new label alone is sent only to devices without a visible record`() throws {
        var rig = try Rig()
        try rig.meet(1)
        try rig.meet(2)
        _ = try rig.beacon(2, hosts: [2], at: 10)
        #expect(rig.change(at: 1000, offers: false) == [try send(1)])
        #expect(try rig.beacon(2, seq: 1, hosts: [2], at: 1010) == [])
        #expect(rig.change(at: 2000) == [try send(1), try send(2)])
    }

    @Test func `changes in quick succession are combined and the last is sent`() throws {
        var rig = try Rig()
        try rig.meet(1)
        #expect(rig.change(at: 1000) == [try send(1)])
        for moment in UInt64(1001)...1024 { #expect(rig.change(at: moment) == []) }
        #expect(rig.deadline == Samples.at(1025))
        #expect(rig.tick(1024) == [])
        #expect(rig.tick(1025) == [try send(1)])
        try rig.acknowledge(1, at: 1026)
        #expect(rig.deadline == Samples.at(1024 + 240_000))
    }

    @Test func `from the second repeat on the other addresses are also used`() throws {
        var rig = try Rig()
        try rig.meet(1)
        _ = try rig.beacon(1, hosts: [1, 2], at: 10)
        #expect(rig.change(at: 1000) == [try send(1)])
        #expect(rig.tick(1030) == [try send(1)])
        #expect(rig.tick(1130) == [try send(1), try send(1, to: 2)])
        #expect(rig.tick(1430) == [try send(1)])
    }

    @Test func `each change is also sent by connection if datagrams do not arrive`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        _ = rig.change(at: 1000)
        for moment in [UInt64(1030), 1130, 1430, 2430] { _ = rig.tick(moment) }
        #expect(rig.tick(4430) == [.useConnection(device)])
        rig.table.delivered(rig.table.ownPosition, to: device)
        rig.machine.delivered(to: device, peers: rig.table)
        #expect(rig.change(at: 9000) == [try send(1), .useConnection(device)])
        #expect(rig.tick(9030) == [])
        try rig.acknowledge(1, at: 9100)
        #expect(rig.change(at: 10_000) == [try send(1)])
        #expect(rig.tick(10_030) == [try send(1)])
    }

    @Test func `a device without label or address is reached by its connection`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        _ = rig.table.receivedHello(try Samples.hello(label: nil), from: device, address: nil, at: Samples.at(0))
        #expect(rig.machine.connected(device, peers: rig.table, at: Samples.at(0)) == [])
        rig.table.connectionOpened(device)
        #expect(rig.change(at: 100) == [.useConnection(device)])
    }

    @Test func `a connected device that lacks the advert receives it at its proved address`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        _ = rig.table.receivedHello(
            try Samples.hello(label: 1), from: device, address: try Samples.address(1), at: Samples.at(0))
        #expect(rig.machine.connected(device, peers: rig.table, at: Samples.at(0)) == [try send(1)])
        #expect(rig.machine.connected(device, peers: rig.table, at: Samples.at(1)) == [])
        #expect(rig.tick(30) == [try send(1)])
    }

    @Test func `a new label gets the advert immediately even while the old one is unanswered`() throws {
        var rig = try Rig()
        try rig.meet(1)
        _ = rig.change(at: 1000)
        let label = try Samples.label(77)
        _ = rig.table.receivedBeacon(
            try Samples.announcement(1, seq: 1), label: label, instance: label.instanceName,
            addresses: [try Samples.address(1)], at: Samples.at(1005))
        #expect(
            rig.machine.discovered(try Samples.device(1), peers: rig.table, at: Samples.at(1005)) == [
                .send(to: try Samples.address(1), device: try Samples.device(1), label: label)
            ])
    }

    @Test func `a device that reappears under another label in time is not probed`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        #expect(rig.machine.instanceRemoved(device, peers: rig.table, at: Samples.at(10_000)) == [])
        let label = try Samples.label(77)
        _ = rig.table.receivedBeacon(
            try Samples.announcement(1, seq: 1), label: label, instance: label.instanceName,
            addresses: [try Samples.address(1)], at: Samples.at(12_000))
        #expect(rig.tick(13_000) == [])
        #expect(rig.tick(60_000) == [])
    }

    @Test func `three unanswered probes remove a device`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        #expect(rig.probe(device, at: 10_000) == [try send(1)])
        #expect(rig.machine.instanceRemoved(device, peers: rig.table, at: Samples.at(10_001)) == [])
        #expect(rig.tick(10_499) == [])
        #expect(rig.tick(10_500) == [try send(1)])
        #expect(rig.tick(11_500) == [try send(1)])
        #expect(rig.tick(12_999) == [])
        #expect(rig.tick(13_000) == [.depart(device, .unreachable)])
    }

    @Test func `an answered probe ends and the next one waits`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        _ = rig.probe(device, at: 10_000)
        try rig.acknowledge(1, at: 10_100)
        #expect(rig.tick(10_500) == [])
        #expect(rig.machine.instanceRemoved(device, peers: rig.table, at: Samples.at(10_200)) == [])
        #expect(rig.deadline == Samples.at(15_000))
        #expect(rig.tick(15_000) == [try send(1)])
    }

    @Test(arguments: ["advert", "heard", "connected", "delivered"]) func `every sign of life answers a probe`(
        sign: String
    )
        throws
    {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        _ = rig.probe(device, at: 10_000)
        switch sign {
        case "advert": _ = try rig.receive(1, seq: 1, at: 10_100)
        case "heard": rig.machine.heard(device)
        case "connected": _ = rig.machine.connected(device, peers: rig.table, at: Samples.at(10_100))
        default: rig.machine.delivered(to: device, peers: rig.table)
        }
        for moment in [UInt64(10_500), 11_500, 13_000, 14_000] { #expect(rig.tick(moment) == []) }
    }

    @Test func `a replayed advert is not a sign of life`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        _ = rig.probe(device, at: 10_000)
        _ = try rig.receive(1, seq: 0, at: 10_100)
        _ = rig.tick(10_500)
        _ = rig.tick(11_500)
        #expect(rig.tick(13_000) == [.depart(device, .unreachable)])
    }

    @Test func `a device whose addresses arrive after its beacon is greeted then`() throws {
        var rig = try Rig()
        #expect(try rig.beacon(1, hosts: [], at: 0) == [])
        #expect(try rig.beacon(1, hosts: [1], at: 1) == [try send(1)])
    }

    @Test func `a restarted device is greeted immediately at the same address`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        #expect(try rig.beacon(1, hosts: [1], at: 0) == [try send(1)])
        _ = rig.table.remove(device, because: .goodbye)
        rig.machine.forget(device)
        let label = try Samples.label(1)
        _ = rig.table.receivedBeacon(
            try Samples.announcement(1, generation: 101), label: label, instance: label.instanceName,
            addresses: [try Samples.address(1)], at: Samples.at(1000))
        var unaware = rig.machine
        let withheld = unaware.discovered(device, peers: rig.table, at: Samples.at(1000))
        #expect(withheld == [], "once in 30 s to an unproved address")
        rig.machine.restarted(device)
        let greeted = rig.machine.discovered(device, peers: rig.table, at: Samples.at(1000))
        #expect(greeted == [try send(1)])
    }

    @Test func `a lost connection after a failed connection attempt removes a device`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        rig.table.connectionOpened(device)
        _ = rig.probe(device, at: 10_000)
        _ = rig.tick(10_500)
        _ = rig.tick(11_500)
        #expect(rig.tick(13_000) == [.useConnection(device)])
        #expect(rig.machine.callFailed(to: device, peers: rig.table, at: Samples.at(13_100)) == [])
        rig.table.connectionClosed(device, at: Samples.at(13_200))
        #expect(
            rig.machine.connectionCut(device, peers: rig.table, at: Samples.at(13_200)) == [
                .depart(device, .unreachable)
            ])
    }

    @Test func `a lost connection causes a probe`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        #expect(rig.machine.connectionCut(device, peers: rig.table, at: Samples.at(10_000)) == [try send(1)])
    }

    @Test func `a failed connection attempt and one unanswered probe remove a device`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        #expect(rig.machine.callFailed(to: device, peers: rig.table, at: Samples.at(10_000)) == [try send(1)])
        #expect(rig.tick(10_500) == [.depart(device, .unreachable)])
    }

    @Test func `a connection attempt that fails during a probe shortens it`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        _ = rig.probe(device, at: 10_000)
        #expect(rig.machine.callFailed(to: device, peers: rig.table, at: Samples.at(10_100)) == [])
        #expect(rig.tick(10_500) == [.depart(device, .unreachable)])
    }

    @Test func `a connection attempt decides if datagrams never arrived`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        _ = try rig.beacon(1, hosts: [1], at: 0)
        _ = rig.tick(2000)
        #expect(rig.probe(device, at: 10_000) == [])
        #expect(rig.tick(10_500) == [])
        #expect(rig.tick(11_500) == [])
        #expect(rig.tick(13_000) == [.useConnection(device)])
        #expect(rig.machine.instanceRemoved(device, peers: rig.table, at: Samples.at(13_001)) == [])
        #expect(
            rig.machine.callFailed(to: device, peers: rig.table, at: Samples.at(14_000)) == [
                .depart(device, .unreachable)
            ])
    }

    @Test func `an open connection is checked before the device is removed`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        rig.table.connectionOpened(device)
        _ = rig.probe(device, at: 10_000)
        _ = rig.tick(10_500)
        _ = rig.tick(11_500)
        #expect(rig.tick(13_000) == [.useConnection(device)])
        #expect(rig.machine.callFailed(to: device, peers: rig.table, at: Samples.at(13_100)) == [])
    }

    @Test func `a leave message is sent immediately even right after a change`() throws {
        var rig = try Rig()
        try rig.meet(1)
        _ = rig.change(at: 1000)
        rig.table.ownPosition = Position(generation: 50, seq: 9)
        #expect(rig.machine.leaving(peers: rig.table, at: Samples.at(1001)) == [try send(1)])
        #expect(!rig.machine.isSettled(peers: rig.table))
        try rig.acknowledge(1, at: 1002)
        #expect(rig.machine.isSettled(peers: rig.table))
    }

    @Test func `an idle daemon wakes only for the renewal`() throws {
        var rig = try Rig()
        #expect(rig.deadline == nil)
        for device in UInt8(1)...20 { try rig.meet(device) }
        #expect(rig.deadline == Samples.at(240_000))
        #expect(rig.tick(239_999) == [])
        #expect(rig.tick(240_000) == [.renew])
        #expect(rig.tick(240_001) == [])
    }

    @Test func `while saving power it wakes half as often but before it expires at other devices`() throws {
        var rig = try Rig()
        try rig.meet(1)
        rig.machine.savesPower = true
        #expect(rig.deadline == Samples.at(480_000))
        #expect(AdvertMachine.slowRenewal + .seconds(60) <= PeerTable.maxLifetime)
        #expect(rig.tick(240_000) == [])
        // Changes are sent as fast as otherwise.
        #expect(rig.change(at: 300_000) == [try send(1)])
        rig.machine.savesPower = false
        #expect(rig.tick(480_000) != [.renew])
    }

    @Test func `a removed device leaves no deadline behind`() throws {
        var rig = try Rig()
        try rig.meet(1)
        try rig.meet(2)
        _ = rig.change(at: 1000)
        _ = rig.table.remove(try Samples.device(1), because: .goodbye)
        try rig.acknowledge(2, at: 1001)
        #expect(rig.deadline == Samples.at(241_000))
        rig.machine.forget(try Samples.device(2))
        _ = rig.table.remove(try Samples.device(2), because: .goodbye)
        #expect(rig.deadline == nil)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>) func `random events never exceed the rate limits and always settle`(
        seed: UInt64
    )
        throws
    {
        var random = FixedRandom(state: seed)
        var rig = try Rig()
        var sends: [PeerAddress: [UInt64]] = [:]
        var now: UInt64 = 0
        for _ in 0..<400 {
            now += UInt64.random(in: 0...40, using: &random)
            let device = UInt8.random(in: 1...4, using: &random)
            let actions: [AdvertAction] =
                switch Int.random(in: 0...6, using: &random) {
                case 0: try rig.beacon(device, hosts: [device], at: now)
                case 1: try rig.receive(device, seq: UInt32.random(in: 0...9, using: &random), at: now)
                case 2: rig.change(at: now)
                case 3: rig.machine.instanceRemoved(try Samples.device(device), peers: rig.table, at: Samples.at(now))
                case 4: rig.machine.callFailed(to: try Samples.device(device), peers: rig.table, at: Samples.at(now))
                default: rig.tick(now)
                }
            if Bool.random(using: &random) { try rig.acknowledge(device, at: now) }
            for action in actions {
                if case .send(let address, _, _) = action { sends[address, default: []].append(now) }
                if case .depart(let id, let reason) = action {
                    _ = rig.table.remove(id, because: reason)
                    rig.machine.forget(id)
                }
            }
        }
        for moments in sends.values { #expect(Double(moments.count) <= Double(now) / 25 * 2 + 20) }
        // Without further events, only the renewal remains.
        var steps = 0
        while let next = rig.deadline, next < Samples.at(now) + .seconds(120) {
            for case .depart(let id, let reason) in rig.machine.deadlinePassed(peers: rig.table, at: next) {
                _ = rig.table.remove(id, because: reason)
                rig.machine.forget(id)
            }
            steps += 1
            #expect(steps < 200)
            guard steps < 200 else { break }
        }
    }

    @Test func `changes for a device that may not be greeted yet are sent over its connection`() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        #expect(try rig.beacon(1, hosts: [1], at: 0) == [try send(1)])
        rig.table.connectionOpened(device)
        // Nothing was acknowledged: the address is not proved and was greeted less than 30 s ago.
        #expect(rig.change(at: 100) == [.useConnection(device)])
        rig.table.delivered(rig.table.ownPosition, to: device)
        rig.machine.delivered(to: device, peers: rig.table)
        #expect(rig.change(at: 200) == [.useConnection(device)])
        // It is greeted again as soon as permitted, to check whether datagrams arrive. The changes
        // do not wait for that.
        #expect(rig.change(at: 31_000) == [try send(1), .useConnection(device)])
    }
}
