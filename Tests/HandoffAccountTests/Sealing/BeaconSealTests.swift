import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

@testable import HandoffAccount

@Suite struct BeaconSealTests {
    private let samples: SealingSamples

    init() throws {
        samples = try SealingSamples()
    }

    @Test func `members read the device's announcement`() throws {
        #expect(try samples.open(beacon: samples.beacon()).announcement == samples.announcement)
    }

    @Test func `the strings may have any order, and unknown ones are ignored`() throws {
        let strings = try samples.beacon()
        #expect(try samples.open(beacon: strings.reversed() + [Array("x=1".utf8)]).announcement == samples.announcement)
    }

    @Test(arguments: [0, 1, 2, 20, 200]) func `the record has one size whatever its content`(activities: Int) throws {
        let announcement = try SealingSamples.announcement(by: samples.keyA, seq: 1, activities: activities)
        let strings = try samples.seal(try samples.signed(announcement))
        #expect(strings.map(\.count) == [3, 231, 231, 231, 242])
        #expect(strings.map { $0.count + 1 }.reduce(0, +) == 943)
        #expect(BeaconText.recordCount == 943)
        let cover = BeaconSeal.cover(label: samples.labelA, marking: [], salt: Randomness.bytes(16))
        #expect(cover.map(\.count) == strings.map(\.count))
    }

    @Test func `two beacons of one state share no string`() throws {
        let first = try samples.beacon()
        let second = try samples.beacon()
        #expect(zip(first, second).dropFirst().allSatisfy { $0 != $1 })
    }

    @Test func `a missing duplicated or truncated part or another version is not a beacon`() throws {
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

    @Test func `a member cannot announce for another`() throws {
        let strings = try samples.seal(try samples.signed(by: samples.keyB))
        #expect(throws: SealError.wrongSignature) { try samples.open(beacon: strings) }
    }

    @Test func `a member cannot move another's announcement under another label`() throws {
        let strings = try samples.seal(try samples.signed(), under: samples.labelB)
        #expect(throws: SealError.wrongSignature) { try samples.open(beacon: strings, label: samples.labelB) }
    }

    @Test func `a device that is not live is ignored`() throws {
        let strings = try samples.beacon()
        #expect(throws: SealError.unknownDevice) {
            try BeaconSeal.open(
                strings, label: samples.labelA, labelKey: samples.keys.label, beaconKey: samples.keys.beacon,
                publicKey: { _ in nil })
        }
    }

    @Test func `a beacon under a label of an earlier epoch opens where the label is known`() throws {
        let former = Label.random(labelKey: try SecretBytes(random: 32))
        let strings = try samples.seal(try samples.signed(under: former), under: former)
        #expect(throws: SealError.foreignLabel) { try samples.open(beacon: strings, label: former) }
        let opened = try BeaconSeal.open(
            strings, label: former, labelKey: nil, beaconKey: samples.keys.beacon, publicKey: samples.publicKey)
        #expect(opened.announcement == samples.announcement)
    }

    @Test func `a beacon of an earlier epoch does not open`() throws {
        let next = try EpochKeys(accountKey: SecretBytes(random: 32), accountID: samples.accountID)
        let strings = try samples.beacon()
        #expect(throws: SealError.foreignLabel) {
            try BeaconSeal.open(
                strings, label: samples.labelA, labelKey: next.label, beaconKey: next.beacon,
                publicKey: samples.publicKey)
        }
    }

    @Test func `a beacon names the period and the addresses of its device and no others`() throws {
        let opened = try samples.open(beacon: samples.beacon())
        #expect(opened.period == Period(unixSeconds: SealingSamples.unixSeconds))
        #expect(opened.names(SealingSamples.addressIPv4) && opened.names(SealingSamples.addressIPv6))
        #expect(!opened.names([192, 168, 1, 21]) && !opened.names([192, 168, 1]) && !opened.names([]))
        let many = (0..<20).map { [10, 0, 0, UInt8($0)] }
        let full = try samples.open(beacon: samples.seal(samples.signed(addresses: many)))
        #expect(many.map(full.names) == (0..<20).map { $0 < 16 })
        let none = try samples.open(beacon: samples.seal(samples.signed(addresses: [])))
        #expect(!many.contains(where: none.names))
    }

    @Test func `the tags of an address differ from label to label`() throws {
        let tags = try [samples.labelA, samples.labelB].map { label in
            try BeaconSeal.sign(
                samples.announcement, period: Period(number: 1), addresses: [SealingSamples.addressIPv4], label: label,
                beaconKey: samples.keys.beacon, key: samples.keyA
            ).dropFirst(4).prefix(4)
        }
        #expect(tags[0] != tags[1])
    }

    @Test func `the author of a beacon in the earlier layout is recognised`() throws {
        var former = samples.announcement.encode(capacity: BeaconSeal.bodyCount)
        let input = Array("handoff/1 beacon sig".utf8) + [0] + samples.labelA.bytes + former
        former += try samples.keyA.sign(input)
        let strings = try samples.seal(former)
        func author(_ strings: [[UInt8]]) -> DeviceID? {
            BeaconSeal.formerAuthor(
                strings, label: samples.labelA, labelKey: samples.keys.label, beaconKey: samples.keys.beacon,
                publicKey: samples.publicKey)
        }
        #expect(throws: SealError.malformed) { try samples.open(beacon: strings) }
        #expect(author(strings) == samples.announcement.deviceID)
        #expect(try author(samples.beacon()) == nil)
        former[0] ^= 1
        #expect(try author(samples.seal(former)) == nil)
    }
}
