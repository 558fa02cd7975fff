import HandoffModel
import HandoffProtocol
import Testing
import Timing

@Suite struct AdvertMachineTests {
    /// A table and a machine, driven as the daemon drives them.
    private struct Rig {
        var table: PeerTable
        var machine: AdvertMachine
        var seq: UInt32 = 0

        init() throws {
            table = PeerTable(own: try Samples.device(200), ownPosition: Position(boot: 50, seq: 0))
            machine = AdvertMachine(at: Samples.at(0))
        }

        mutating func receive(_ device: UInt8, seq: UInt32 = 0, at: UInt64) throws -> [AdvertAction] {
            let announcement = try Samples.announcement(device, seq: seq)
            let label = try Samples.label(device)
            let source = try Samples.address(device)
            let reception = table.receivedAdvert(announcement, label: label, source: source, at: Samples.at(at))
            return machine.receivedAdvert(
                announcement, label: label, source: source, reception: reception, peers: table, at: Samples.at(at))
        }

        mutating func beacon(_ device: UInt8, seq: UInt32 = 0, hosts: [UInt8], at: UInt64) throws -> [AdvertAction] {
            let label = try Samples.label(device)
            _ = table.receivedBeacon(
                try Samples.announcement(device, seq: seq), label: label, instance: label.instanceName,
                addresses: try hosts.map { try Samples.address($0) }, at: Samples.at(at))
            return machine.discovered(try Samples.device(device), peers: table, at: Samples.at(at))
        }

        mutating func acknowledge(_ device: UInt8, at: UInt64) throws {
            let acknowledgement = Acknowledgement(deviceID: try Samples.device(device), position: table.ownPosition)
            _ = table.receivedAcknowledgement(
                acknowledgement, source: try Samples.address(device), at: Samples.at(at))
            machine.receivedAcknowledgement(from: acknowledgement.deviceID, peers: table)
        }

        /// - Parameter offers: whether the activities have changed, or only the label.
        mutating func change(at: UInt64, offers: Bool = true) -> [AdvertAction] {
            seq += 1
            table.ownPosition = Position(boot: 50, seq: seq)
            if offers { table.ownListSeq = seq }
            return machine.changed(offers, peers: table, at: Samples.at(at))
        }

        /// The device's service has vanished some time ago, and it is asked at this moment.
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

        /// A device that knows this one, and is known to be at its address.
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
            Position(boot: 100, seq: seq), device: try Samples.device(device), to: try Samples.address(device),
            label: try Samples.label(device))
    }

    @Test func aFirstAdvertIsAcknowledgedAndAnswered() throws {
        var rig = try Rig()
        #expect(try rig.receive(1, at: 0) == [try acknowledge(1), try send(1)])
        #expect(rig.machine.discovered(try Samples.device(1), peers: rig.table, at: Samples.at(0)) == [])
    }

    @Test func aRepeatedAdvertIsAcknowledgedAgainAndNothingElse() throws {
        var rig = try Rig()
        _ = try rig.receive(1, at: 0)
        #expect(try rig.receive(1, at: 10) == [try acknowledge(1)])
        _ = try rig.receive(1, seq: 2, at: 20)
        #expect(try rig.receive(1, seq: 1, at: 30) == [])
    }

    @Test func acknowledgementsAreLimitedToTenASecond() throws {
        var rig = try Rig()
        var count = 0
        for _ in 0..<50 {
            count += try rig.receive(1, at: 0).filter { if case .acknowledge = $0 { true } else { false } }.count
        }
        #expect(count == 10)
    }

    @Test func aBeaconIsGreetedAtItsAddressesOnceIn30Seconds() throws {
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

    @Test func nobodyCanMakeUsGreetOneAddressFasterByCyclingOthers() throws {
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

    @Test func aChangeGoesToEveryKnownDeviceAtOnceAndIsRepeatedUntilAcknowledged() throws {
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

    @Test func aNewLabelAloneGoesToThoseWhoseRecordIsNotSeen() throws {
        var rig = try Rig()
        try rig.meet(1)
        try rig.meet(2)
        _ = try rig.beacon(2, hosts: [2], at: 10)
        #expect(rig.change(at: 1000, offers: false) == [try send(1)])
        #expect(try rig.beacon(2, seq: 1, hosts: [2], at: 1010) == [])
        #expect(rig.change(at: 2000) == [try send(1), try send(2)])
    }

    @Test func changesInQuickSuccessionBecomeOneAndTheLastIsSent() throws {
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

    @Test func anUnansweredProvedAddressIsJoinedByTheOthersFromTheSecondRepeat() throws {
        var rig = try Rig()
        try rig.meet(1)
        _ = try rig.beacon(1, hosts: [1, 2], at: 10)
        #expect(rig.change(at: 1000) == [try send(1)])
        #expect(rig.tick(1030) == [try send(1)])
        #expect(rig.tick(1130) == [try send(1), try send(1, to: 2)])
        #expect(rig.tick(1430) == [try send(1)])
    }

    @Test func whereDatagramsDoNotArriveEachChangeGoesByConnectionToo() throws {
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

    @Test func aDeviceWithoutLabelOrAddressIsServedByItsConnection() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        _ = rig.table.receivedHello(try Samples.hello(label: nil), from: device, address: nil, at: Samples.at(0))
        #expect(rig.machine.connected(device, peers: rig.table, at: Samples.at(0)) == [])
        rig.table.connectionOpened(device)
        #expect(rig.change(at: 100) == [.useConnection(device)])
    }

    @Test func aConnectedDeviceThatLacksTheAdvertIsSentItAtItsProvedAddress() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        _ = rig.table.receivedHello(
            try Samples.hello(label: 1), from: device, address: try Samples.address(1), at: Samples.at(0))
        #expect(rig.machine.connected(device, peers: rig.table, at: Samples.at(0)) == [try send(1)])
        #expect(rig.machine.connected(device, peers: rig.table, at: Samples.at(1)) == [])
        #expect(rig.tick(30) == [try send(1)])
    }

    @Test func aNewLabelIsSentToAtOnceEvenWhileTheOldOneIsUnanswered() throws {
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

    @Test func whoShowsItselfUnderAnotherLabelInTimeIsNotAsked() throws {
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

    @Test func threeUnansweredProbesTakeADeviceAway() throws {
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

    @Test func anAnsweredProbeEndsTheQuestionAndTheNextOneWaits() throws {
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

    @Test(arguments: ["advert", "heard", "connected", "delivered"]) func everySignOfLifeAnswersAProbe(sign: String)
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

    @Test func aReplayedAdvertIsNoSignOfLife() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        _ = rig.probe(device, at: 10_000)
        _ = try rig.receive(1, seq: 0, at: 10_100)
        _ = rig.tick(10_500)
        _ = rig.tick(11_500)
        #expect(rig.tick(13_000) == [.depart(device, .unreachable)])
    }

    @Test func aDeviceWhoseAddressesComeAfterItsBeaconIsGreetedThen() throws {
        var rig = try Rig()
        #expect(try rig.beacon(1, hosts: [], at: 0) == [])
        #expect(try rig.beacon(1, hosts: [1], at: 1) == [try send(1)])
    }

    @Test func aDeviceThatStartedAnewIsGreetedAtOnceAtTheSameAddress() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        #expect(try rig.beacon(1, hosts: [1], at: 0) == [try send(1)])
        _ = rig.table.remove(device, because: .goodbye)
        rig.machine.forget(device)
        let label = try Samples.label(1)
        _ = rig.table.receivedBeacon(
            try Samples.announcement(1, boot: 101), label: label, instance: label.instanceName,
            addresses: [try Samples.address(1)], at: Samples.at(1000))
        var unaware = rig.machine
        let withheld = unaware.discovered(device, peers: rig.table, at: Samples.at(1000))
        #expect(withheld == [], "once in 30 s to an address without proof")
        rig.machine.restarted(device)
        let greeted = rig.machine.discovered(device, peers: rig.table, at: Samples.at(1000))
        #expect(greeted == [try send(1)])
    }

    @Test func aCutConnectionAfterAFailedCallTakesADeviceAway() throws {
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

    @Test func aConnectionThatBreaksMakesADeviceBeAsked() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        #expect(rig.machine.connectionCut(device, peers: rig.table, at: Samples.at(10_000)) == [try send(1)])
    }

    @Test func aFailedCallAndOneUnansweredProbeTakeADeviceAway() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        #expect(rig.machine.callFailed(to: device, peers: rig.table, at: Samples.at(10_000)) == [try send(1)])
        #expect(rig.tick(10_500) == [.depart(device, .unreachable)])
    }

    @Test func aCallThatFailsDuringAProbeShortensIt() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        try rig.meet(1)
        _ = rig.probe(device, at: 10_000)
        #expect(rig.machine.callFailed(to: device, peers: rig.table, at: Samples.at(10_100)) == [])
        #expect(rig.tick(10_500) == [.depart(device, .unreachable)])
    }

    @Test func whereDatagramsNeverArrivedACallDecides() throws {
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

    @Test func anOpenConnectionIsAskedInsteadOfGivingTheDeviceUp() throws {
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

    @Test func goodbyeGoesOutAtOnceEvenRightAfterAChange() throws {
        var rig = try Rig()
        try rig.meet(1)
        _ = rig.change(at: 1000)
        rig.table.ownPosition = Position(boot: 50, seq: 9)
        #expect(rig.machine.leaving(peers: rig.table, at: Samples.at(1001)) == [try send(1)])
        #expect(!rig.machine.isSettled(peers: rig.table))
        try rig.acknowledge(1, at: 1002)
        #expect(rig.machine.isSettled(peers: rig.table))
    }

    @Test func anIdleDaemonWakesForTheRenewalOnly() throws {
        var rig = try Rig()
        #expect(rig.deadline == nil)
        for device in UInt8(1)...20 { try rig.meet(device) }
        #expect(rig.deadline == Samples.at(240_000))
        #expect(rig.tick(239_999) == [])
        #expect(rig.tick(240_000) == [.renew])
        #expect(rig.tick(240_001) == [])
    }

    @Test func aForgottenDeviceLeavesNoDeadlineBehind() throws {
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

    @Test(arguments: 1...50 as ClosedRange<UInt64>) func randomEventsNeverExceedTheRatesAndAlwaysEnd(seed: UInt64)
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
        // Left alone, everything comes to rest but the renewal.
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

    @Test func newsOfADeviceThatMayNotBeGreetedYetGoOverItsConnection() throws {
        var rig = try Rig()
        let device = try Samples.device(1)
        #expect(try rig.beacon(1, hosts: [1], at: 0) == [try send(1)])
        rig.table.connectionOpened(device)
        // Nothing was acknowledged: the address is not proved, and was greeted less than 30 s ago.
        #expect(rig.change(at: 100) == [.useConnection(device)])
        rig.table.delivered(rig.table.ownPosition, to: device)
        rig.machine.delivered(to: device, peers: rig.table)
        #expect(rig.change(at: 200) == [.useConnection(device)])
        // When it may be greeted again, it is, to learn whether datagrams pass; the news do not wait for that.
        #expect(rig.change(at: 31_000) == [try send(1), .useConnection(device)])
    }
}
