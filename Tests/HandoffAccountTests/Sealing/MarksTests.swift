import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct MarksTests {
    private let samples: SealingSamples
    private let pair: PairwiseKeys
    private let salt: [UInt8] = Array(0x70...0x7F)

    init() throws {
        samples = try SealingSamples()
        pair = try PairwiseKeys(device: samples.keyA, device: samples.keyB.publicKey, accountID: samples.accountID)
    }

    /// Seconds by which the reader's clock is ahead. The last one gives a time before 1970.
    private static let differences: [Int64] = [0, 2 * 86_400, 3650 * 86_400, -SealingSamples.unixSeconds - 3600]

    private let address = Marks.endpoint(SealingSamples.addressIPv4, port: 24863)
    private let clock = SealingSamples.unixSeconds

    private var timely: Freshness { .period(Period(unixSeconds: clock)) }

    private func place(_ pair: PairwiseKeys, _ freshness: Freshness? = nil, at address: [UInt8]? = nil) -> Marks.Place {
        Marks.Place(keys: pair, endpoint: address ?? self.address, freshness: freshness ?? timely)
    }

    private func read(
        _ marks: Marks, as pair: PairwiseKeys, at address: [UInt8]? = nil, clock: Int64 = SealingSamples.unixSeconds,
        salts: [[UInt8]] = []
    ) -> Marks.Reading {
        marks.read(
            with: pair, under: samples.labelA, salt: salt, endpoint: address ?? self.address, unixSeconds: clock,
            salts: salts)
    }

    private func marks(_ places: Marks.Place...) -> Marks {
        Marks(under: samples.labelA, salt: salt, for: places)
    }

    private func mark(_ pair: PairwiseKeys, under label: Label? = nil, salt: [UInt8]? = nil) -> [UInt8] {
        pair.mark(under: label ?? samples.labelA, salt: salt ?? self.salt, endpoint: address, timely)
    }

    @Test func `both sides of a pair have the same keys`() throws {
        let other = try PairwiseKeys(device: samples.keyB, device: samples.keyA.publicKey, accountID: samples.accountID)
        #expect(other.gate == pair.gate)
        #expect(mark(other) == mark(pair))
    }

    @Test func `each pair, account and label has its own secrets`() throws {
        let third = try SigningKey()
        let account = try #require(AccountID(bytes: [UInt8](repeating: 9, count: 16)))
        for other in [
            try PairwiseKeys(device: samples.keyA, device: third.publicKey, accountID: samples.accountID),
            try PairwiseKeys(device: third, device: samples.keyB.publicKey, accountID: samples.accountID),
            try PairwiseKeys(device: samples.keyA, device: samples.keyB.publicKey, accountID: account),
        ] {
            #expect(other.gate != pair.gate)
            #expect(mark(other) != mark(pair))
        }
        #expect(mark(pair) != mark(pair, under: samples.labelB))
        #expect(mark(pair) != mark(pair, salt: [UInt8](repeating: 1, count: 16)))
    }

    @Test func `a device that is sought is marked in any place and the rest is random`() {
        let mark = mark(pair)
        let found = (0..<32).map { _ in
            let bytes = marks(place(pair)).bytes
            return stride(from: 0, to: Marks.byteCount, by: Marks.markCount).filter {
                Array(bytes[$0..<($0 + Marks.markCount)]) == mark
            }
        }
        #expect(found.allSatisfy { $0.count == 1 })
        // The chance that all are in one of thirty places is 1 in 30^31.
        #expect(Set(found).count > 1)
        #expect(marks() != marks())
        #expect(read(marks(), as: pair) == .foreign)
    }

    @Test func `at most thirty are marked`() throws {
        let pairs = try (0..<35).map { _ in
            try PairwiseKeys(device: samples.keyA, device: SigningKey().publicKey, accountID: samples.accountID)
        }
        let marks = Marks(under: samples.labelA, salt: salt, for: pairs.map { place($0) })
        #expect(marks.bytes.count == Marks.byteCount)
        #expect(pairs.count { read(marks, as: $0) != .foreign } == Marks.places)
    }

    @Test(arguments: differences)
    func `a mark is fresh only by a clock that agrees`(difference: Int64) {
        let marks = marks(place(pair))
        let reading = read(marks, as: pair, clock: clock + difference)
        #expect(reading == (difference == 0 ? .period(Period(unixSeconds: clock)) : .unproved))
    }

    @Test(arguments: differences)
    func `an echo is fresh whatever the clocks`(difference: Int64) {
        let own = (0..<3).map { _ in Randomness.bytes(16) }
        for number in 1...Marks.maxEchoes {
            let marks = marks(place(pair, .echo(own[1], number: number)))
            #expect(read(marks, as: pair, clock: clock + difference, salts: own) == .echo(own[1]))
            #expect(read(marks, as: pair, clock: clock + difference, salts: [own[0], own[2]]) == .unproved)
            #expect(read(marks, as: pair, clock: clock + difference) == .unproved)
        }
    }

    @Test func `a mark is valid only for its address and port`() {
        let own = Randomness.bytes(16)
        let marks = marks(place(pair), place(pair, .echo(own, number: 1), at: SealingSamples.addressIPv6))
        #expect(read(marks, as: pair, salts: [own]) == .period(Period(unixSeconds: clock)))
        #expect(read(marks, as: pair, at: SealingSamples.addressIPv6, salts: [own]) == .echo(own))
        for other: [UInt8] in [[192, 168, 1, 21], [192, 168, 1], [], SealingSamples.addressIPv6.reversed()] {
            #expect(read(marks, as: pair, at: other, salts: [own]) == .foreign)
            #expect(read(marks, as: pair, at: Marks.endpoint(other, port: 24863), salts: [own]) == .foreign)
        }
        let port = Marks.endpoint(SealingSamples.addressIPv4, port: 24864)
        #expect(read(marks, as: pair, at: port, salts: [own]) == .foreign)
    }

    @Test func `no two marks of one party and address have the same id`() {
        let salts = (0..<4).map { _ in Randomness.bytes(16) }
        let all = [timely] + salts.enumerated().map { .echo($1, number: $0 + 1) }
        let ids = all.map { pair.mark(under: samples.labelA, salt: salt, endpoint: address, $0).prefix(3) }
        #expect(Set(ids).count == 5)
    }

    @Test func `marks are found in a record in any order`() throws {
        let strings = try samples.beacon(salt: salt, marking: [place(pair)])
        let found = try #require(BeaconText.marks(in: strings.reversed() + [Array("x=1".utf8)]))
        #expect(found.salt == salt)
        #expect(read(found.marks, as: pair) == .period(Period(unixSeconds: clock)))
    }

    @Test func `a ticket shares separate secrets with each device`() throws {
        let ticket = try SigningKey()
        let device = try PairwiseKeys(device: samples.keyA, ticket: ticket.publicKey, accountID: samples.accountID)
        let holder = try PairwiseKeys(ticket: ticket, device: samples.keyA.publicKey, accountID: samples.accountID)
        #expect(device.gate == holder.gate)
        // The same key as a device's gives other secrets.
        let asDevice = try PairwiseKeys(device: samples.keyA, device: ticket.publicKey, accountID: samples.accountID)
        #expect(device.gate != asDevice.gate)
        let other = try PairwiseKeys(device: samples.keyB, ticket: ticket.publicKey, accountID: samples.accountID)
        #expect(device.gate != other.gate)
    }

    @Test func `missing duplicated or truncated marks or another version are ignored`() throws {
        let strings = try samples.beacon()
        var records = [[], Array(strings.dropLast()), Array(strings.dropFirst()), strings + [strings[4]]]
        records += [strings + [Array("v=2".utf8)], strings.dropLast() + [Array(strings[4].dropLast())]]
        records += [strings.dropLast() + [strings[4] + [0]], strings.dropLast() + [Array("m=".utf8)]]
        for record in records { #expect(BeaconText.marks(in: record)?.marks == nil) }
        // A beacon without them is still readable.
        #expect(try samples.open(beacon: Array(strings.dropLast())).announcement == samples.announcement)
    }

    @Test func `a removed device recognises no device and opens no gate`() throws {
        // All that it ever had: its device key, the account, every epoch key, and all public keys.
        let removed = try SigningKey()
        let marks = marks(place(pair))
        let others = [samples.keyA.publicKey, samples.keyB.publicKey]
        let own = try others.map { try PairwiseKeys(device: removed, device: $0, accountID: samples.accountID) }
        #expect(own.allSatisfy { read(marks, as: $0) == .foreign })
        let hello: [UInt8] = [22, 3, 1, 0, 1, 7]
        let server = DeviceID(samples.keyA.publicKey)
        let token = Gate.token(
            key: pair.gate, hint: .pair, serial: Gate.Serial(generation: 1, call: 1), label: samples.labelA,
            Gate.Greeting(hello, to: server))
        var knock = try #require(Knock(token, hello, to: server))
        let isMade = own.map { knock.isMade(with: $0.gate, under: samples.labelA) }
        #expect(isMade == [false, false])
        #expect(own.allSatisfy { Gate.pairHint(key: $0.gate, label: samples.labelA, server: server) != knock.hint })
    }
}
