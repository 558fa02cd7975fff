import HandoffModel
import HandoffProtocol
import Testing

@Suite struct PeerTableTests {
    private let own = 200 as UInt8

    private func table() throws -> PeerTable {
        PeerTable(own: try Samples.device(own), ownPosition: Position(generation: 50, seq: 3))
    }

    private func advert(
        _ table: inout PeerTable, _ announcement: Announcement, label: UInt8 = 1, from: UInt8? = 1, at: UInt64 = 0
    ) throws -> Reception {
        table.receivedAdvert(
            announcement, label: try Samples.label(label), source: try from.map { try Samples.address($0) },
            at: Samples.at(at))
    }

    private func ids(_ table: PeerTable, _ device: UInt8 = 1) throws -> [UInt8] {
        table[try Samples.device(device)]?.offers.compactMap(\.activity.id.bytes.first) ?? []
    }

    @Test func `a first advert adds a device with its offers`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let reception = try advert(&table, try Samples.announcement(1, activities: [1, 2]))
        #expect(reception == .new(isFirst: true, changes: [.appeared(device), .offersChanged(device)]))
        #expect(try ids(table) == [1, 2])
        #expect(table[device]?.candidates.ranked.map(\.address) == [try Samples.address(1)])
        #expect(table.seenGeneration(of: device) == 100)
    }

    @Test func `the age of an offer increases from the time received, also when it is renewed`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let activity = try Samples.activity(1, age: 70)
        func announcement(_ seq: UInt32) throws -> Announcement {
            try #require(
                Announcement(
                    deviceID: device, position: Position(generation: 100, seq: seq), port: 24863, kind: .laptop,
                    rosterDigest: [UInt8](repeating: 0, count: 8), listSeq: 0, activities: [activity]))
        }
        _ = try advert(&table, try announcement(0), at: 10_000)
        let offer = try #require(table[device]?.offers.first)
        #expect(offer.device == device && offer.age(at: Samples.at(10_000)) == 70)
        #expect(offer.age(at: Samples.at(25_900)) == 85)
        _ = try advert(&table, try announcement(1), at: 20_000)
        let renewed = try #require(table[device]?.offers.first)
        #expect(renewed.age(at: Samples.at(25_900)) == 85 && renewed.expires > offer.expires)
    }

    @Test func `a greater number replaces the announcement and a smaller one is ignored`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 5, activities: [1]))
        let newer = try advert(&table, try Samples.announcement(1, seq: 6, activities: [2]), label: 2)
        #expect(newer == .new(isFirst: false, changes: [.changed(device), .offersChanged(device)]))
        let before = table
        #expect(try advert(&table, try Samples.announcement(1, seq: 5, activities: [9]), from: 7) == .stale)
        #expect(
            try advert(&table, try Samples.announcement(1, generation: 99, seq: 9, activities: [9]), from: 7) == .stale)
        #expect(table[device] == before[device])
        #expect(table[device]?.previousLabel == (try Samples.label(1)))
    }

    @Test func `a replay changes nothing but may add an address`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let announcement = try Samples.announcement(1, seq: 5, activities: [1])
        _ = try advert(&table, announcement)
        var before = try #require(table[device])
        #expect(try advert(&table, announcement, from: 2, at: 1000) == .repeated(changes: []))
        let after = try #require(table[device])
        #expect(after.candidates.ranked.count == 2)
        #expect(after.renewed == before.renewed && after.offers == before.offers)
        before = after
        #expect(try advert(&table, announcement, label: 9, at: 2000) == .stale)
        #expect(table[device] == before)
    }

    @Test func `a replay never extends the lifetime of an announcement`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let announcement = try Samples.announcement(1, activities: [1])
        _ = try advert(&table, announcement)
        _ = try advert(&table, announcement, at: 599_000)
        #expect(table.nextDeadline == Samples.at(600_000))
        let early = table.expire(at: Samples.at(599_999))
        #expect(early == [])
        let late = table.expire(at: Samples.at(600_000))
        #expect(late == [.gone(device, .silent)])
        #expect(try advert(&table, announcement, at: 600_001) == .stale)
        #expect(table.count == 0)
    }

    @Test func `a new generation replaces everything`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 9, activities: [1]))
        table.delivered(Position(generation: 50, seq: 3), to: device)
        let restarted = try Samples.announcement(1, generation: 101, seq: 0, port: 24864, hasMore: true)
        _ = try advert(&table, restarted, label: 2, from: nil)
        let peer = try #require(table[device])
        #expect(peer.offers.isEmpty && !peer.isComplete)
        #expect(peer.acknowledged == nil)
        #expect(peer.candidates.ranked.map(\.address.port) == [24864])
    }

    @Test func `omitted activities stay until the list arrives`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 0, activities: [1, 2, 3]))
        let cut = try advert(&table, try Samples.announcement(1, seq: 1, hasMore: true, activities: [4]))
        #expect(cut == .new(isFirst: false, changes: [.offersChanged(device), .moreToFetch(device)]))
        #expect(try ids(table) == [4, 1, 2, 3])
        let list = ActivityList(
            position: Position(generation: 100, seq: 1), activities: [try Samples.activity(4), try Samples.activity(2)])
        #expect(table.receivedList(list, from: device, at: Samples.at(10)) == [.offersChanged(device)])
        #expect(try ids(table) == [4, 2])
    }

    @Test func `the other form of an announcement adds omitted activities`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, hasMore: true, activities: [1]))
        let same = try advert(&table, try Samples.announcement(1, activities: [1, 2]))
        #expect(same == .repeated(changes: [.offersChanged(device)]))
        #expect(try ids(table) == [1, 2])
        #expect(table[device]?.isComplete == true)
    }

    @Test func `an old list replaces nothing`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 5, activities: [1]))
        let old = ActivityList(position: Position(generation: 100, seq: 4), activities: [try Samples.activity(9)])
        #expect(table.receivedList(old, from: device, at: Samples.at(1)) == [])
        let other = ActivityList(position: Position(generation: 99, seq: 9), activities: [try Samples.activity(9)])
        #expect(table.receivedList(other, from: device, at: Samples.at(1)) == [])
        #expect(try ids(table) == [1])
    }

    @Test func `a list that arrives before its announcement is kept`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 5, activities: [1]))
        let list = ActivityList(
            position: Position(generation: 100, seq: 6), activities: [try Samples.activity(1), try Samples.activity(2)])
        _ = table.receivedList(list, from: device, at: Samples.at(1))
        let reception = try advert(&table, try Samples.announcement(1, seq: 6, hasMore: true, activities: [1]))
        #expect(reception == .new(isFirst: false, changes: []))
        #expect(try ids(table) == [1, 2])
    }

    @Test func `a leave message is final for its generation`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 5, activities: [1]))
        let goodbye = try Samples.announcement(1, seq: 6, leaveReason: .goodbye)
        #expect(try advert(&table, goodbye) == .new(isFirst: false, changes: [.gone(device, .goodbye)]))
        #expect(try advert(&table, goodbye) == .stale)
        #expect(try advert(&table, try Samples.announcement(1, seq: 5, activities: [1])) == .stale)
        #expect(table.seenGeneration(of: device) == 100)
        #expect(try advert(&table, try Samples.announcement(1, generation: 101)).changes == [.appeared(device)])
    }

    @Test func `a leave message of an unknown device adds nothing`() throws {
        var table = try table()
        let goodbye = try Samples.announcement(1, seq: 6, leaveReason: .goodbye)
        #expect(try advert(&table, goodbye) == .new(isFirst: false, changes: []))
        #expect(table.count == 0)
    }

    @Test func `a device removed too early returns for the rest of its lifetime`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let announcement = try Samples.announcement(1, activities: [1])
        _ = try advert(&table, announcement)
        _ = table.remove(device, because: .unreachable)
        let back = try advert(&table, announcement, at: 300_000)
        #expect(back == .new(isFirst: true, changes: [.appeared(device), .offersChanged(device)]))
        #expect(table.nextDeadline == Samples.at(600_000))
    }

    @Test func `a hello that arrives after a newer leave message adds no device`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 3))
        _ = try advert(&table, try Samples.announcement(1, seq: 4, leaveReason: .goodbye))
        func hello(generation: UInt64, seq: UInt32) throws -> [PeerChange] {
            table.receivedHello(
                try Samples.hello(generation: generation, seq: seq), from: device, address: try Samples.address(1),
                at: Samples.at(10))
        }
        #expect(try hello(generation: 100, seq: 3) == [])
        #expect(table[device] == nil)
        #expect(try hello(generation: 101, seq: 0) == [.appeared(device), .moreToFetch(device)])
    }

    @Test func `a leave message over a connection also removes the device`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 3, activities: [7]))
        let goodbye = try Samples.hello(seq: 4, leaveReason: .goodbye)
        let changes = table.receivedHello(
            goodbye, from: device, address: try Samples.address(1), at: Samples.at(10))
        #expect(changes == [.gone(device, .goodbye)])
        // A late announcement from before the leave message does not add it again.
        #expect(try advert(&table, try Samples.announcement(1, seq: 4)) == .stale)
        #expect(table[device] == nil)
    }

    @Test func `a device that goes to sleep is asleep until it announces itself again`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 3, activities: [7]))
        #expect(table.asleepSince(device) == nil)
        let asleep = try Samples.announcement(1, seq: 4, leaveReason: .sleep)
        #expect(try advert(&table, asleep, at: 500) == .new(isFirst: false, changes: [.gone(device, .asleep)]))
        #expect(table.asleepSince(device) == Samples.at(500))
        // Earlier announcements and repetitions have no effect, and the state does not expire.
        #expect(try advert(&table, asleep, at: 900) == .stale)
        #expect(try advert(&table, try Samples.announcement(1, seq: 3, activities: [7]), at: 900) == .stale)
        #expect(table.expire(at: Samples.at(900_000_000)) == [])
        #expect(table.asleepSince(device) == Samples.at(500))
        #expect(try advert(&table, try Samples.announcement(1, seq: 5)).changes == [.appeared(device)])
        #expect(table.asleepSince(device) == nil)
        _ = table.remove(device, because: .unreachable)
        #expect(table.asleepSince(device) == nil)
    }

    @Test(arguments: [false, true])
    func `a leave message that arrives after the device is back has no effect`(isBackByHello: Bool) throws {
        var table = try table()
        let device = try Samples.device(1)
        func hello(seq: UInt32, _ leaveReason: LeaveReason?) throws -> [PeerChange] {
            let hello = try Samples.hello(seq: seq, listSeq: seq, leaveReason: leaveReason)
            return table.receivedHello(hello, from: device, address: try Samples.address(1), at: Samples.at(200))
        }
        _ = try advert(&table, try Samples.announcement(1, seq: 3, activities: [7]))
        _ = try advert(&table, try Samples.announcement(1, seq: 4, leaveReason: .sleep))
        if isBackByHello {
            #expect(try hello(seq: 5, nil) == [.appeared(device), .moreToFetch(device)])
        } else {
            #expect(try advert(&table, try Samples.announcement(1, seq: 5)).changes == [.appeared(device)])
        }
        #expect(try hello(seq: 4, .sleep) == [])
        #expect(table[device] != nil && table.asleepSince(device) == nil)
        #expect(try hello(seq: 6, .sleep) == [.gone(device, .asleep)])
    }

    @Test func `sleep is accepted from offline devices, over a connection, and only from members`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 3, leaveReason: .sleep), at: 100)
        #expect(table.asleepSince(device) == Samples.at(100))
        func hello(seq: UInt32, _ leaveReason: LeaveReason?) throws -> [PeerChange] {
            table.receivedHello(
                try Samples.hello(seq: seq, leaveReason: leaveReason), from: device, address: try Samples.address(1),
                at: Samples.at(200))
        }
        #expect(try hello(seq: 4, nil) == [.appeared(device), .moreToFetch(device)])
        #expect(table.asleepSince(device) == nil)
        #expect(try hello(seq: 5, .sleep) == [.gone(device, .asleep)])
        #expect(table.asleepSince(device) == Samples.at(200))
        _ = table.retain([])
        #expect(table.asleepSince(device) == nil)
    }

    @Test func `an announcement in this device's name changes nothing`() throws {
        var table = try table()
        for generation in [49, 50, 51] as [UInt64] {
            #expect(try advert(&table, try Samples.announcement(own, generation: generation)) == .own)
        }
        let beacon = table.receivedBeacon(
            try Samples.announcement(own, generation: 51), label: try Samples.label(1), instance: "a", addresses: [],
            at: Samples.at(0))
        #expect(beacon == .own)
        #expect(table.count == 0)
    }

    @Test func `a new announcement of the same list leaves nothing to fetch`() throws {
        var table = try table()
        _ = try advert(&table, try Samples.announcement(1, seq: 3, hasMore: true, activities: [7]))
        let device = try Samples.device(1)
        let list = ActivityList(
            position: Position(generation: 100, seq: 3), activities: try [7, 8].map { try Samples.activity($0) })
        _ = table.receivedList(list, from: device, at: Samples.at(0))
        // A renewal and a new label: the list is still that of change 3, and its lifetime is
        // extended.
        let renewal = try Samples.announcement(1, seq: 4, hasMore: true, listSeq: 3, activities: [7])
        #expect(try advert(&table, renewal, at: 240_000) == .new(isFirst: false, changes: []))
        #expect(table[device]?.offers.count == 2)
        #expect(table.nextDeadline == Samples.at(840_000))
        let change = try Samples.announcement(1, seq: 5, hasMore: true, activities: [7])
        #expect(try advert(&table, change, at: 250_000).changes == [.moreToFetch(device)])
    }

    @Test func `a device that is no longer live is removed with its offers`() throws {
        var table = try table()
        for number in UInt8(1)...3 { _ = try advert(&table, try Samples.announcement(number, activities: [number])) }
        let changes = table.retain([try Samples.device(2)])
        #expect(changes == [.gone(try Samples.device(1), .removed), .gone(try Samples.device(3), .removed)])
        #expect(table.all.map(\.deviceID) == [try Samples.device(2)])
        #expect(table.seenGeneration(of: try Samples.device(1)) == nil)
    }

    @Test func `a removal in mDNS only selects the device to probe`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let label = try Samples.label(1)
        _ = table.receivedBeacon(
            try Samples.announcement(1, seq: 0), label: label, instance: label.instanceName,
            addresses: [try Samples.address(1)], at: Samples.at(0))
        #expect(table[device]?.isAnnounced == true)
        #expect(table.instanceRemoved("unknown") == nil)
        #expect(table.instanceRemoved(label.instanceName) == device)
        #expect(table[device] != nil && table[device]?.isAnnounced == false)
        #expect(table.instanceRemoved(label.instanceName) == nil)
    }

    @Test func `the service of a former label may be removed without a probe`() throws {
        var table = try table()
        let old = try Samples.label(1)
        let new = try Samples.label(2)
        for (seq, label) in [(UInt32(0), old), (1, new)] {
            _ = table.receivedBeacon(
                try Samples.announcement(1, seq: seq), label: label, instance: label.instanceName, addresses: [],
                at: Samples.at(0))
        }
        #expect(table.instanceRemoved(old.instanceName) == nil)
        #expect(table[try Samples.device(1)]?.isAnnounced == true)
    }

    @Test func `an acknowledgement is valid only for this generation and a sent position`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1))
        func acknowledge(_ generation: UInt64, _ seq: UInt32, from: UInt8 = 1) throws -> Bool {
            table.receivedAcknowledgement(
                of: Position(generation: generation, seq: seq), from: device, proving: try Samples.address(from),
                at: Samples.at(5))
        }
        #expect(try !acknowledge(49, 3))
        #expect(try !acknowledge(50, 4))
        #expect(table[device]?.candidates.isProved(try Samples.address(1)) == false)
        #expect(try acknowledge(50, 1, from: 9))
        #expect(table[device]?.candidates.isProved(try Samples.address(9)) == false)
        #expect(try acknowledge(50, 3))
        #expect(try acknowledge(50, 2))
        #expect(table[device]?.acknowledged == Position(generation: 50, seq: 3))
        #expect(table[device]?.candidates.isProved(try Samples.address(1)) == true)
    }

    @Test func `an acknowledgement that proves no address only stops repeats`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1))
        let position = Position(generation: 50, seq: 3)
        let counts = table.receivedAcknowledgement(of: position, from: device, proving: nil, at: Samples.at(1))
        #expect(counts)
        #expect(table[device]?.acknowledged == position)
        #expect(table[device]?.candidates.ranked.allSatisfy { $0.proved == nil } == true)
    }

    @Test func `an acknowledgement proves the address even if a connection was faster`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1))
        table.delivered(table.ownPosition, to: device)
        let counts = table.receivedAcknowledgement(
            of: table.ownPosition, from: device, proving: try Samples.address(1), at: Samples.at(1))
        #expect(counts)
        #expect(table[device]?.candidates.isProved(try Samples.address(1)) == true)
    }

    @Test func `a device that always announces more does not fill the memory`() throws {
        var table = try table()
        for seq in UInt32(0)..<1000 {
            let activities = try (0..<3).map { number in
                ActivitySummary(
                    id: try #require(
                        ActivityID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: Int(seq) >> $0 + number) })),
                    type: try #require(ActivityType("a")), title: "\(seq)", team: nil, supportsStreams: false,
                    hasWebpageURL: false, age: 0)
            }
            let announcement = try #require(
                Announcement(
                    deviceID: try Samples.device(1), position: Position(generation: 100, seq: seq), port: 1,
                    kind: .other,
                    hasMore: true, rosterDigest: [UInt8](repeating: 0, count: 8), listSeq: 0, activities: activities))
            _ = try advert(&table, announcement)
        }
        #expect(try #require(table[try Samples.device(1)]).offers.count <= 256)
    }

    @Test func `a hello adds a device and requests its list`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let address = try Samples.address(1)
        let changes = table.receivedHello(try Samples.hello(), from: device, address: address, at: Samples.at(0))
        #expect(changes == [.appeared(device), .moreToFetch(device)])
        #expect(table[device]?.candidates.isProved(address) == true)
        #expect(table[device]?.label == (try Samples.label(9)))
        #expect(
            try advert(&table, try Samples.announcement(1, seq: 4, activities: [1]), label: 9).changes
                == [.offersChanged(device)])
    }

    @Test func `a hello of an older generation is ignored`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, activities: [1]))
        let before = table[device]
        let changes = table.receivedHello(
            try Samples.hello(generation: 99), from: device, address: nil, at: Samples.at(5))
        #expect(changes == [])
        #expect(table[device] == before)
    }

    @Test func `a hello of an older generation adds no device`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let announcement = try Samples.announcement(1, seq: 3, activities: [1])
        _ = try advert(&table, announcement)
        _ = table.remove(device, because: .silent)
        let changes = table.receivedHello(
            try Samples.hello(generation: 99), from: device, address: nil, at: Samples.at(700_000))
        #expect(changes == [])
        // Otherwise the announcements of its later generation could be replayed.
        #expect(try advert(&table, announcement, at: 700_001) == .stale)
        #expect(table[device] == nil)
        // It receives its later generation and uses a greater one.
        #expect(table.seenGeneration(of: device) == 100)
        let back = table.receivedHello(
            try Samples.hello(generation: 101), from: device, address: nil, at: Samples.at(700_002))
        #expect(back == [.appeared(device), .moreToFetch(device)])
    }

    @Test func `a generation known only from a hello is also recorded`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let old = try Samples.announcement(1, seq: 3, activities: [1])
        _ = try advert(&table, old)
        _ = table.receivedHello(
            try Samples.hello(generation: 101), from: device, address: nil, at: Samples.at(10))
        let gone = table.expire(at: Samples.at(700_000))
        #expect(gone == [.gone(device, .silent)])
        #expect(try advert(&table, old, at: 700_001) == .stale)
        #expect(table.seenGeneration(of: device) == 101)
        // Nothing has been announced in that generation yet.
        let first = try advert(&table, try Samples.announcement(1, generation: 101, seq: 0), at: 700_002)
        #expect(first == .new(isFirst: true, changes: [.appeared(device)]))
    }

    @Test func `a hello that arrives after a newer announcement changes nothing`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, seq: 5), label: 2)
        for (seq, label) in [(4, 2), (5, 1), (nil, 1)] as [(UInt32?, UInt8)] {
            var copy = table
            _ = copy.receivedHello(
                try Samples.hello(seq: seq, label: 1), from: device, address: nil, at: Samples.at(5))
            #expect(copy[device]?.label == (try Samples.label(label)))
        }
    }

    @Test func `a hello of a new generation voids the offers`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, activities: [1]))
        let changes = table.receivedHello(
            try Samples.hello(generation: 101), from: device, address: nil, at: Samples.at(5))
        #expect(changes == [.changed(device), .offersChanged(device), .moreToFetch(device)])
        #expect(try ids(table) == [])
        #expect(try advert(&table, try Samples.announcement(1, seq: 99, activities: [1])) == .stale)
    }

    @Test func `a connected device stays when nothing else is received`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1, activities: [1]))
        table.connectionOpened(device)
        #expect(table.expire(at: Samples.at(600_000)) == [.offersChanged(device)])
        #expect(table.nextDeadline == nil)
        table.connectionClosed(device, at: Samples.at(700_000))
        #expect(table.nextDeadline == Samples.at(1_300_000))
    }

    @Test func `forged addresses never displace a proved one`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let announcement = try Samples.announcement(1)
        _ = try advert(&table, announcement)
        _ = table.receivedHello(
            try Samples.hello(label: 1), from: device, address: try Samples.address(1), at: Samples.at(1))
        for host in UInt8(2)...60 { _ = try advert(&table, announcement, from: host) }
        let ranked = try #require(table[device]).candidates.ranked
        #expect(ranked.count == CandidateSet.maxCount)
        #expect(ranked.first?.address == (try Samples.address(1)))
        #expect(ranked.dropFirst().map { $0.address.host[3] } == [60, 59, 58, 57, 56, 55, 54])
    }

    @Test func `a new address is not added if all others are proved`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1), from: nil)
        for host in UInt8(1)...8 {
            _ = table.receivedHello(
                try Samples.hello(label: 1), from: device, address: try Samples.address(host), at: Samples.at(1))
        }
        _ = try advert(&table, try Samples.announcement(1), from: 99)
        #expect(table[device]?.candidates.ranked.allSatisfy { $0.proved != nil } == true)
        table.addressFailed(try Samples.address(3), of: device)
        #expect(table[device]?.candidates.isProved(try Samples.address(3)) == false)
    }

    @Test func `addresses that mDNS no longer names are removed unless proved`() throws {
        var table = try table()
        let device = try Samples.device(1)
        let label = try Samples.label(1)
        func beacon(_ hosts: [UInt8]) throws {
            _ = table.receivedBeacon(
                try Samples.announcement(1), label: label, instance: label.instanceName,
                addresses: try hosts.map { try Samples.address($0, port: 1) }, at: Samples.at(0))
        }
        try beacon([1, 2])
        _ = table.receivedAcknowledgement(
            of: Position(generation: 50, seq: 3), from: device, proving: try Samples.address(1), at: Samples.at(1))
        try beacon([3])
        #expect(Set(try #require(table[device]).candidates.ranked.map { $0.address.host[3] }) == [1, 3])
    }

    @Test func `a name that resolves to new addresses replaces the old ones unless proved`() throws {
        var table = try table()
        let device = try Samples.device(1)
        _ = try advert(&table, try Samples.announcement(1), from: nil)
        func addresses() throws -> [UInt8] {
            try #require(table[device]).candidates.ranked.map { $0.address.host[3] }
        }
        func resolve(_ hosts: [UInt8], from former: [UInt8] = []) throws {
            table.resolved(
                device, to: try hosts.map { try Samples.address($0) }, from: try former.map { try Samples.address($0) },
                at: Samples.at(0))
        }
        try resolve([1, 2])
        #expect(Set(try addresses()) == [1, 2])
        try resolve([3], from: [1, 2])
        #expect(try addresses() == [3])
        _ = table.receivedHello(
            try Samples.hello(label: 1), from: device, address: try Samples.address(3), at: Samples.at(1))
        try resolve([4], from: [3])
        #expect(try addresses() == [3, 4])
        table.addressFailed(try Samples.address(3), of: device)
        #expect(try addresses() == [4])
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>) func `the order of arrival does not matter`(seed: UInt64) throws {
        var random = FixedRandom(state: seed)
        let sent = try (0..<8).map {
            try Samples.announcement(1, generation: 100 + UInt64($0 / 4), seq: UInt32($0 % 4), activities: [UInt8($0)])
        }
        var table = try table()
        for announcement in sent.shuffled(using: &random) + [try #require(sent.randomElement(using: &random))] {
            _ = try advert(&table, announcement)
        }
        #expect(try ids(table) == [7])
        #expect(table[try Samples.device(1)]?.seq == 3)
    }
}
