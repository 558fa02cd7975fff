import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct BeaconSealTests {
    private let samples: SealingSamples

    init() throws {
        samples = try SealingSamples()
    }

    @Test func `members read what the device said`() throws {
        #expect(try samples.open(beacon: samples.beacon()) == samples.announcement)
    }

    @Test func `the order of the strings does not matter nor do unknown ones`() throws {
        let strings = try samples.beacon()
        #expect(try samples.open(beacon: strings.reversed() + [Array("x=1".utf8)]) == samples.announcement)
    }

    @Test(arguments: [0, 1, 2, 20, 200]) func `the record has one size whatever it says`(activities: Int) throws {
        let announcement = try SealingSamples.announcement(by: samples.keyA, seq: 1, activities: activities)
        let signed = try BeaconSeal.sign(announcement, label: samples.labelA, key: samples.keyA)
        let strings = try BeaconSeal.seal(
            signed, label: samples.labelA, beaconKey: samples.keys.beacon,
            marking: [])
        #expect(strings.map(\.count) == [3, 231, 231, 231, 130])
        #expect(strings.map { $0.count + 1 }.reduce(0, +) == 831)
        #expect(BeaconText.recordCount == 831)
    }

    @Test func `two beacons of one state share no string`() throws {
        let first = try samples.beacon()
        let second = try samples.beacon()
        #expect(zip(first, second).dropFirst().allSatisfy { $0 != $1 })
    }

    @Test func `a missing doubled or cut part or another version is no beacon`() throws {
        let strings = try samples.beacon()
        var records = strings.indices.dropLast().map { index in
            strings.enumerated().filter { $0.offset != index }.map(\.element)
        }
        records += [strings + [strings[1]], strings + [Array("v=2".utf8)], [Array("v=2".utf8)] + strings.dropFirst()]
        records += [[], [strings[0], Array(strings[1].dropLast())] + strings[2...]]
        for record in records { #expect(throws: SealError.shape) { try samples.open(beacon: record) } }
    }

    @Test func `a beacon under another label does not open`() throws {
        let strings = try samples.beacon()
        #expect(throws: SealError.notGenuine) { try samples.open(beacon: strings, label: samples.labelB) }
        let foreign = try #require(Label(bytes: [UInt8](repeating: 1, count: 16)))
        #expect(throws: SealError.foreignLabel) { try samples.open(beacon: strings, label: foreign) }
    }

    @Test(arguments: [0, 15, 16, 200, 400, 683]) func `a changed byte does not open`(offset: Int) throws {
        var strings = try samples.beacon()
        strings[1 + offset / 228][3 + offset % 228] ^= 1
        #expect(throws: SealError.notGenuine) { try samples.open(beacon: strings) }
    }

    @Test func `a member cannot speak for another`() throws {
        let signed = try BeaconSeal.sign(samples.announcement, label: samples.labelA, key: samples.keyB)
        let strings = try BeaconSeal.seal(
            signed, label: samples.labelA, beaconKey: samples.keys.beacon,
            marking: [])
        #expect(throws: SealError.wrongSignature) { try samples.open(beacon: strings) }
    }

    @Test func `a member cannot move another's words under another label`() throws {
        let signed = try BeaconSeal.sign(samples.announcement, label: samples.labelA, key: samples.keyA)
        let strings = try BeaconSeal.seal(
            signed, label: samples.labelB, beaconKey: samples.keys.beacon,
            marking: [])
        #expect(throws: SealError.wrongSignature) { try samples.open(beacon: strings, label: samples.labelB) }
    }

    @Test func `a device that is not live is not heard`() throws {
        let strings = try samples.beacon()
        #expect(throws: SealError.unknownDevice) {
            try BeaconSeal.open(
                strings, label: samples.labelA, labelKey: samples.keys.label, beaconKey: samples.keys.beacon,
                publicKey: { _ in nil })
        }
    }

    @Test func `a beacon under a label of a former epoch opens where the label is known`() throws {
        let former = Label.random(labelKey: try SecretBytes(random: 32))
        let signed = try BeaconSeal.sign(samples.announcement, label: former, key: samples.keyA)
        let strings = try BeaconSeal.seal(signed, label: former, beaconKey: samples.keys.beacon, marking: [])
        #expect(throws: SealError.foreignLabel) { try samples.open(beacon: strings, label: former) }
        let opened = try BeaconSeal.open(
            strings, label: former, labelKey: nil, beaconKey: samples.keys.beacon, publicKey: samples.publicKey)
        #expect(opened == samples.announcement)
    }

    @Test func `a former epochs beacon does not open`() throws {
        let next = try EpochKeys(accountKey: SecretBytes(random: 32), accountID: samples.accountID)
        let strings = try samples.beacon()
        #expect(throws: SealError.foreignLabel) {
            try BeaconSeal.open(
                strings, label: samples.labelA, labelKey: next.label, beaconKey: next.beacon,
                publicKey: samples.publicKey)
        }
    }
}
