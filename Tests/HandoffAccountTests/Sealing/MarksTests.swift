import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct MarksTests {
    private let samples: SealingSamples
    private let pair: PairKeys

    init() throws {
        samples = try SealingSamples()
        pair = try PairKeys(own: samples.keyA, other: samples.keyB.publicKey, accountID: samples.accountID)
    }

    private func count(_ pair: PairKeys, in marks: Marks, under label: Label) -> Int {
        let mark = pair.mark(under: label)
        return stride(from: 0, to: Marks.byteCount, by: Marks.markCount).count {
            Array(marks.bytes[$0..<($0 + Marks.markCount)]) == mark
        }
    }

    @Test func bothSidesOfAPairHaveTheSameKeys() throws {
        let other = try PairKeys(own: samples.keyB, other: samples.keyA.publicKey, accountID: samples.accountID)
        #expect(other.gate == pair.gate)
        #expect(other.mark(under: samples.labelA) == pair.mark(under: samples.labelA))
    }

    @Test func eachPairEachAccountAndEachLabelHasItsOwn() throws {
        let third = try SigningKey()
        let account = try #require(AccountID(bytes: [UInt8](repeating: 9, count: 16)))
        for other in [
            try PairKeys(own: samples.keyA, other: third.publicKey, accountID: samples.accountID),
            try PairKeys(own: third, other: samples.keyB.publicKey, accountID: samples.accountID),
            try PairKeys(own: samples.keyA, other: samples.keyB.publicKey, accountID: account),
        ] {
            #expect(other.gate != pair.gate)
            #expect(other.mark(under: samples.labelA) != pair.mark(under: samples.labelA))
        }
        #expect(pair.mark(under: samples.labelA) != pair.mark(under: samples.labelB))
    }

    @Test func whoIsMissedIsMarkedAnywhereAndTheRestIsRandom() throws {
        let label = samples.labelA
        let made = (0..<32).map { _ in Marks(under: label, for: [pair]) }
        #expect(made.allSatisfy { $0.contains(pair.mark(under: label)) && count(pair, in: $0, under: label) == 1 })
        let places = Set(
            made.map { marks in
                stride(from: 0, to: Marks.byteCount, by: 8).first {
                    Array(marks.bytes[$0..<($0 + 8)]) == pair.mark(under: label)
                }
            })
        // All in one of sixteen places has a chance of 1 in 2^124.
        #expect(places.count > 1)
        #expect(!Marks(under: label, for: []).contains(pair.mark(under: label)))
        #expect(Marks(under: label, for: []) != Marks(under: label, for: []))
    }

    @Test func moreThanSixteenFindNoPlace() throws {
        let pairs = try (0..<20).map { _ in
            try PairKeys(own: samples.keyA, other: SigningKey().publicKey, accountID: samples.accountID)
        }
        let marks = Marks(under: samples.labelA, for: pairs)
        #expect(marks.bytes.count == Marks.byteCount)
        #expect(pairs.count { marks.contains($0.mark(under: samples.labelA)) } == Marks.places)
    }

    @Test func marksAreFoundInTheRecordWhateverItsOrder() throws {
        let marks = Marks(under: samples.labelA, for: [pair])
        let strings = try samples.beacon(marks: marks)
        #expect(BeaconText.marks(in: strings.reversed() + [Array("x=1".utf8)]) == marks)
    }

    @Test func missingDoubledOrCutMarksOrAnotherVersionAreNone() throws {
        let strings = try samples.beacon()
        var records = [[], Array(strings.dropLast()), Array(strings.dropFirst()), strings + [strings[4]]]
        records += [strings + [Array("v=2".utf8)], strings.dropLast() + [Array(strings[4].dropLast())]]
        records += [strings.dropLast() + [strings[4] + [0]], strings.dropLast() + [Array("m=".utf8)]]
        for record in records { #expect(BeaconText.marks(in: record) == nil) }
        // A beacon is read without them all the same.
        #expect(try samples.open(beacon: Array(strings.dropLast())) == samples.announcement)
    }

    @Test func aRemovedDeviceRecognisesNobodyAndOpensNothing() throws {
        // All that it ever had: its device key, the account, every epoch key, and all public keys.
        let removed = try SigningKey()
        let marks = Marks(under: samples.labelA, for: [pair])
        let others = [samples.keyA.publicKey, samples.keyB.publicKey]
        let own = try others.map { try PairKeys(own: removed, other: $0, accountID: samples.accountID) }
        #expect(own.allSatisfy { !marks.contains($0.mark(under: samples.labelA)) })
        let hello: [UInt8] = [22, 3, 1, 0, 1, 7]
        let token = Gate.token(gateKey: pair.gate, label: samples.labelA, clientHello: hello)
        for keys in own {
            #expect(!Gate.isValid(token, gateKey: keys.gate, label: samples.labelA, clientHello: hello))
        }
    }
}
