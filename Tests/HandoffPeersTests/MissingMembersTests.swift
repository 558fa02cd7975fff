import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO
import Testing

@testable import HandoffAccount

/// The marks of two members in different epochs: each writes its own beside its record and reads
/// those of the other.
@Suite struct MissingMembersTests {
    /// One device with its clock.
    private struct Station {
        let id: DeviceID
        let label: Label
        var members: MissingMembers
        /// The number of seconds by which its wall clock is ahead.
        var difference: Int64 = 0
        let address: SocketAddress

        func moment(_ seconds: Int64) -> MissingMembers.Moment {
            MissingMembers.Moment(
                instant: MonotonicInstant(nanoseconds: UInt64(seconds) * 1_000_000_000),
                unixSeconds: 1_800_000_000 + seconds + difference)
        }

        /// Returns the record of this device, as seen with these addresses.
        mutating func record(at seconds: Int64, addresses: [SocketAddress]? = nil) -> MissingMembers.Record {
            let salt = Randomness.bytes(16)
            let places = members.places(
                for: [Marks.endpoint(address.address.bytes, port: address.port)], known: [], found: [],
                at: moment(seconds))
            members.sealed(salt, at: moment(seconds).instant)
            return MissingMembers.Record(
                label: label, (Marks(under: label, salt: salt, for: places), salt), addresses: addresses ?? [address])
        }

        /// Returns the addresses at which this device would call the author of a record.
        mutating func read(
            _ record: MissingMembers.Record, at seconds: Int64, of instance: String = "one"
        ) -> [SocketAddress] {
            (try? members.look(at: instance, record, at: moment(seconds)))?.author?.addresses ?? []
        }
    }

    private var desk: Station
    private var couch: Station
    private let deskKey: SigningKey
    private let state: AccountState

    init() throws {
        let (deskKey, couchKey) = (try SigningKey(), try SigningKey())
        let state = try AccountState.creating(device: deskKey, name: "desk", now: 1)
            .pairing(couchKey.publicKey, name: "couch", by: deskKey)
        (self.deskKey, self.state) = (deskKey, state)
        func station(_ key: SigningKey, _ last: UInt8) throws -> Station {
            let members = MissingMembers(own: key, AccountSnapshot(own: DeviceID(key.publicKey), state: state))
            let address = try #require(IPAddress(bytes: [192, 168, 1, last]))
            return Station(
                id: DeviceID(key.publicKey), label: try #require(Label(bytes: Randomness.bytes(16))), members: members,
                address: SocketAddress(address, port: 24863))
        }
        desk = try station(deskKey, 1)
        couch = try station(couchKey, 2)
    }

    private let other = IPAddress(bytes: [192, 168, 1, 66]).map { SocketAddress($0, port: 24863) }

    @Test mutating func `a member that is in the same epoch gets no mark`() {
        let endpoints = [Marks.endpoint(desk.address.address.bytes, port: desk.address.port)]
        let moment = desk.moment(0)
        let marks = [[], [couch.id]].map { desk.members.places(for: endpoints, known: [], found: $0, at: moment) }
        #expect(marks.map(\.count) == [1, 0])
    }

    @Test mutating func `a member whose clock agrees is found by its first record`() {
        let record = desk.record(at: 0)
        #expect(couch.read(record, at: 1) == [desk.address])
    }

    @Test(arguments: [300, 600, 1200, 30 * 86_400] as [Int64])
    mutating func `an old record leads nowhere`(age: Int64) {
        let record = desk.record(at: 0)
        #expect(couch.read(record, at: age) == (age < 600 ? [desk.address] : []))
    }

    @Test mutating func `a record at other addresses leads only to its own address`() throws {
        let other = try #require(other)
        let moved = desk.record(at: 0, addresses: [other])
        #expect(couch.read(moved, at: 1) == [])
        let both = desk.record(at: 2, addresses: [other, desk.address])
        #expect(couch.read(both, at: 3) == [desk.address])
        // The addresses of a record may be found later than its text.
        let bare = desk.record(at: 4, addresses: [])
        #expect(couch.read(bare, at: 5) == [])
    }

    @Test mutating func `a record that was fresh when it was read leads nowhere once it is old`() {
        let record = desk.record(at: 0)
        #expect(couch.read(record, at: 1) == [desk.address])
        #expect(couch.read(record, at: 599) == [desk.address])
        #expect(couch.read(record, at: 600) == [])
    }

    /// Two days, ten years, and a time before 1970.
    @Test(arguments: [2 * 86_400, 3650 * 86_400, -1_800_000_000 - 86_400] as [Int64])
    mutating func `members whose clocks differ find each other by echoes`(difference: Int64) {
        couch.difference = difference
        let first = desk.record(at: 0)
        #expect(couch.read(first, at: 1) == [])
        let answer = couch.record(at: 2)
        #expect(desk.read(answer, at: 3) == [couch.address])
        // The desk echoes the salt of the record that it read, although that record was fresh.
        let second = desk.record(at: 4)
        #expect(couch.read(second, at: 5) == [desk.address])
        // An answer that is repeated later does not count.
        #expect(desk.read(answer, at: 700, of: "repeated") == [])
    }

    @Test mutating func `an echo of another device's salt does not count`() throws {
        couch.difference = 3650 * 86_400
        var another = couch
        let first = desk.record(at: 0)
        _ = another.read(first, at: 1)
        var foreign = desk
        foreign.members.accountChanged(AccountSnapshot(own: desk.id, state: state))
        let mine = foreign.record(at: 2)
        _ = couch.read(mine, at: 3)
        let answer = couch.record(at: 4)
        #expect(desk.read(answer, at: 5) == [])
    }

    @Test mutating func `a sealed beacon is fresh by its period or by an echo`() {
        let record = couch.record(at: 0)
        func judge(_ desk: inout Station, _ seconds: Int64, _ record: MissingMembers.Record?) -> (Bool, Bool) {
            desk.members.isFresh(
                Period(unixSeconds: 1_800_000_000 + couch.difference), of: couch.id, salt: record?.salt ?? [], record,
                at: desk.moment(seconds))
        }
        #expect(judge(&desk, 1, record) == (true, true))
        #expect(judge(&desk, 600, record) == (false, false))
        couch.difference = 86_400
        #expect(judge(&desk, 601, nil) == (false, false))
        let sealed = desk.record(at: 602)
        _ = couch.read(sealed, at: 603)
        let answer = couch.record(at: 604)
        #expect(judge(&desk, 605, answer) == (true, false))
    }

    @Test mutating func `a device that holds a ticket is echoed once it has echoed`() throws {
        let (exported, file) = try state.exportingTicket(by: deskKey, now: 1)
        desk.members.accountChanged(AccountSnapshot(own: desk.id, state: exported))
        let newcomer = try SigningKey()
        let joining = try AccountState.importing(file, device: newcomer, name: "train")
        let members = MissingMembers(own: newcomer, AccountSnapshot(own: DeviceID(newcomer.publicKey), state: joining))
        var train = Station(
            id: DeviceID(newcomer.publicKey), label: desk.label, members: members, difference: -1_900_000_000,
            address: try #require(other))

        let silent = train.record(at: 0)
        #expect(try !desk.members.look(at: "train", silent, at: desk.moment(1)).isAwaited)
        let first = desk.record(at: 2)
        #expect(train.read(first, at: 3) == [])
        let asking = train.record(at: 4)
        let isAwaited = try desk.members.look(at: "train", asking, at: desk.moment(5)).isAwaited
        #expect(isAwaited)
        let second = desk.record(at: 6)
        #expect(train.read(second, at: 7) == [desk.address])
        // Once for each record, and not for a repeated one.
        let isAwaitedAgain = try desk.members.look(at: "train", asking, at: desk.moment(8)).isAwaited
        let isRepeated = try desk.members.look(at: "repeated", asking, at: desk.moment(900)).isAwaited
        #expect(!isAwaitedAgain && !isRepeated)
    }

    @Test mutating func `repeated salts do not change how often records are sealed for a ticket`() throws {
        let (exported, _) = try state.exportingTicket(by: deskKey, now: 1)
        desk.members.accountChanged(AccountSnapshot(own: desk.id, state: exported))
        let endpoints = (0..<4).map { Marks.endpoint([192, 168, 1, $0], port: 24863) }
        let moment = desk.moment(0)
        _ = desk.members.places(for: endpoints, known: [], found: [], at: moment)
        let isLeft = desk.members.leavesTicketsOut
        for device in AccountSnapshot(own: desk.id, state: exported).others {
            for _ in 0..<4 {
                _ = desk.members.isFresh(Period(number: 1), of: device, salt: Randomness.bytes(16), nil, at: moment)
            }
        }
        let places = desk.members.places(for: endpoints, known: [], found: [], at: moment)
        #expect(places.count { if case .echo = $0.freshness { true } else { false } } >= 16)
        #expect(desk.members.leavesTicketsOut == isLeft)
    }

    @Test mutating func `echoes leave places for other marks`() throws {
        var state = state
        var others: [DeviceID] = []
        for number in 0..<40 {
            let key = try SigningKey().publicKey
            state = try state.pairing(key, name: "\(number)", by: deskKey)
            others.append(DeviceID(key))
        }
        desk.members.accountChanged(AccountSnapshot(own: desk.id, state: state))
        let moment = desk.moment(0)
        func count(_ desk: inout Station) -> (all: Int, echoes: Int) {
            let places = desk.members.places(
                for: [Marks.endpoint(desk.address.address.bytes, port: desk.address.port)], known: [], found: [],
                at: moment)
            return (places.count, places.count { if case .echo = $0.freshness { true } else { false } })
        }
        #expect(count(&desk) == (Marks.places, 0))
        for device in others {
            _ = desk.members.isFresh(Period(number: 1), of: device, salt: Randomness.bytes(16), nil, at: moment)
        }
        #expect(count(&desk) == (Marks.places, 20))
    }
}
