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

    private func count(_ pair: PairwiseKeys, in marks: Marks, under label: Label) -> Int {
        let mark = pair.mark(under: label, salt: salt)
        return stride(from: 0, to: Marks.byteCount, by: Marks.markCount).count {
            Array(marks.bytes[$0..<($0 + Marks.markCount)]) == mark
        }
    }

    @Test func `both sides of a pair have the same keys`() throws {
        let other = try PairwiseKeys(device: samples.keyB, device: samples.keyA.publicKey, accountID: samples.accountID)
        #expect(other.gate == pair.gate)
        #expect(other.mark(under: samples.labelA, salt: salt) == pair.mark(under: samples.labelA, salt: salt))
    }

    @Test func `each pair each account and each label has its own`() throws {
        let third = try SigningKey()
        let account = try #require(AccountID(bytes: [UInt8](repeating: 9, count: 16)))
        for other in [
            try PairwiseKeys(device: samples.keyA, device: third.publicKey, accountID: samples.accountID),
            try PairwiseKeys(device: third, device: samples.keyB.publicKey, accountID: samples.accountID),
            try PairwiseKeys(device: samples.keyA, device: samples.keyB.publicKey, accountID: account),
        ] {
            #expect(other.gate != pair.gate)
            #expect(other.mark(under: samples.labelA, salt: salt) != pair.mark(under: samples.labelA, salt: salt))
        }
        #expect(pair.mark(under: samples.labelA, salt: salt) != pair.mark(under: samples.labelB, salt: salt))
    }

    @Test func `who is missed is marked anywhere and the rest is random`() throws {
        let label = samples.labelA
        let made = (0..<32).map { _ in Marks(under: label, salt: salt, for: [pair]) }
        #expect(
            made.allSatisfy {
                $0.contains(pair.mark(under: label, salt: salt)) && count(pair, in: $0, under: label) == 1
            })
        let places = Set(
            made.map { marks in
                stride(from: 0, to: Marks.byteCount, by: 8).first {
                    Array(marks.bytes[$0..<($0 + 8)]) == pair.mark(under: label, salt: salt)
                }
            })
        // All in one of sixteen places has a chance of 1 in 2^124.
        #expect(places.count > 1)
        #expect(!Marks(under: label, salt: salt, for: []).contains(pair.mark(under: label, salt: salt)))
        #expect(Marks(under: label, salt: salt, for: []) != Marks(under: label, salt: salt, for: []))
    }

    @Test func `more than sixteen find no place`() throws {
        let pairs = try (0..<20).map { _ in
            try PairwiseKeys(device: samples.keyA, device: SigningKey().publicKey, accountID: samples.accountID)
        }
        let marks = Marks(under: samples.labelA, salt: salt, for: pairs)
        #expect(marks.bytes.count == Marks.byteCount)
        #expect(pairs.count { marks.contains($0.mark(under: samples.labelA, salt: salt)) } == Marks.places)
    }

    @Test func `marks are found in the record whatever its order`() throws {
        let strings = try samples.beacon(salt: salt, marking: [pair])
        let found = try #require(BeaconText.marks(in: strings.reversed() + [Array("x=1".utf8)]))
        #expect(found.salt == salt)
        #expect(found.marks.contains(pair.mark(under: samples.labelA, salt: salt)))
    }

    @Test func `no two beacons have a mark in common`() throws {
        let other = [UInt8](repeating: 1, count: 16)
        #expect(pair.mark(under: samples.labelA, salt: salt) != pair.mark(under: samples.labelA, salt: other))
    }

    @Test func `a ticket shares secrets with each device and those only with it`() throws {
        let ticket = try SigningKey()
        let device = try PairwiseKeys(device: samples.keyA, ticket: ticket.publicKey, accountID: samples.accountID)
        let holder = try PairwiseKeys(ticket: ticket, device: samples.keyA.publicKey, accountID: samples.accountID)
        #expect(device.gate == holder.gate)
        // A device that used the same key would be somebody else.
        let asDevice = try PairwiseKeys(device: samples.keyA, device: ticket.publicKey, accountID: samples.accountID)
        #expect(device.gate != asDevice.gate)
        let other = try PairwiseKeys(device: samples.keyB, ticket: ticket.publicKey, accountID: samples.accountID)
        #expect(device.gate != other.gate)
    }

    @Test func `missing doubled or cut marks or another version are none`() throws {
        let strings = try samples.beacon()
        var records = [[], Array(strings.dropLast()), Array(strings.dropFirst()), strings + [strings[4]]]
        records += [strings + [Array("v=2".utf8)], strings.dropLast() + [Array(strings[4].dropLast())]]
        records += [strings.dropLast() + [strings[4] + [0]], strings.dropLast() + [Array("m=".utf8)]]
        for record in records { #expect(BeaconText.marks(in: record)?.marks == nil) }
        // A beacon is read without them all the same.
        #expect(try samples.open(beacon: Array(strings.dropLast())) == samples.announcement)
    }

    @Test func `a removed device recognises nobody and opens nothing`() throws {
        // All that it ever had: its device key, the account, every epoch key, and all public keys.
        let removed = try SigningKey()
        let marks = Marks(under: samples.labelA, salt: salt, for: [pair])
        let others = [samples.keyA.publicKey, samples.keyB.publicKey]
        let own = try others.map { try PairwiseKeys(device: removed, device: $0, accountID: samples.accountID) }
        #expect(own.allSatisfy { !marks.contains($0.mark(under: samples.labelA, salt: salt)) })
        let hello: [UInt8] = [22, 3, 1, 0, 1, 7]
        let server = DeviceID(samples.keyA.publicKey)
        let token = Gate.token(
            key: pair.gate, hint: .pair, serial: Gate.Serial(boot: 1, call: 1), label: samples.labelA,
            Gate.Greeting(hello, to: server))
        var knock = try #require(Knock(token, hello, to: server))
        let isMade = own.map { knock.isMade(with: $0.gate, under: samples.labelA) }
        #expect(isMade == [false, false])
        #expect(own.allSatisfy { Gate.pairHint(key: $0.gate, label: samples.labelA, server: server) != knock.hint })
    }
}
