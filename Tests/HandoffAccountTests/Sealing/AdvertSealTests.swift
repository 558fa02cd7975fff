import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

@testable import HandoffAccount

@Suite struct AdvertSealTests {
    private let samples: SealingSamples

    init() throws {
        samples = try SealingSamples()
    }

    @Test func `the receiver reads the device's announcement`() throws {
        let datagram = try samples.sealed()
        #expect(datagram.count == 1200 && datagram.first == 1)
        let salt = Array(datagram[17..<33])
        #expect(try samples.open(datagram) == .advert(samples.announcement, from: samples.labelA, salt: salt))
    }

    @Test func `one signature serves all receivers`() throws {
        let advert = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyA)
        for label in [samples.labelB, .random(labelKey: samples.keys.label)] {
            let salt = Randomness.bytes(16)
            let datagram = try AdvertSeal.seal(advert, to: label, advertKey: samples.keys.advert, salt: salt)
            #expect(
                try samples.open(datagram, receivers: [label])
                    == .advert(samples.announcement, from: samples.labelA, salt: salt))
        }
    }

    @Test func `the previous label is still accepted`() throws {
        let salt = Randomness.bytes(16)
        let datagram = try samples.sealed(salt: salt)
        let present = Label.random(labelKey: samples.keys.label)
        let opened = try samples.open(datagram, receivers: [present, samples.labelB])
        #expect(opened == .advert(samples.announcement, from: samples.labelA, salt: salt))
        #expect(throws: SealError.notGenuine) { try samples.open(datagram, receivers: [present]) }
        #expect(throws: SealError.shape) { try samples.open(datagram, receivers: []) }
    }

    @Test func `a datagram for B is rejected by C`() throws {
        let labelC = Label.random(labelKey: samples.keys.label)
        let datagram = try samples.sealed(to: samples.labelB)
        #expect(throws: SealError.notGenuine) { try samples.open(datagram, receivers: [labelC]) }
    }

    @Test func `a reflected datagram is rejected by its sender`() throws {
        let datagram = try samples.sealed()
        #expect(throws: SealError.notGenuine) { try samples.open(datagram, receivers: [samples.labelA]) }
    }

    @Test func `an advert of A signed by B is rejected`() throws {
        let forged = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyB)
        let datagram = try AdvertSeal.seal(forged, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.wrongSignature) { try samples.open(datagram) }
    }

    @Test func `a member cannot forward another's advert under its own label`() throws {
        let advert = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyA)
        let own = Label.random(labelKey: samples.keys.label)
        let moved = SignedAdvert(label: own, plaintext: advert.plaintext)
        let datagram = try AdvertSeal.seal(moved, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.wrongSignature) { try samples.open(datagram) }
    }

    @Test func `the bytes of a beacon sent as a datagram are rejected`() throws {
        let strings = try samples.beacon()
        let record = strings.flatMap { [UInt8($0.count)] + $0 }
        let sealed = strings.dropFirst().flatMap { $0.dropFirst(3) }
        var padded = [1] + samples.labelA.bytes + sealed
        padded += [UInt8](repeating: 0, count: 1200 - padded.count)
        #expect(throws: SealError.shape) { try samples.open(record) }
        #expect(throws: SealError.shape) { try samples.open(sealed) }
        #expect(throws: SealError.notGenuine) { try samples.open(padded) }
    }

    @Test func `a beacon's signature is invalid in an advert`() throws {
        let body = samples.announcement.encode(capacity: SignedAdvert.bodyCount)
        let input = Array("handoff/1 beacon sig".utf8) + [0] + samples.labelA.bytes + body
        let signature = try samples.keyA.sign(input)
        let moved = SignedAdvert(label: samples.labelA, plaintext: body + signature)
        let datagram = try AdvertSeal.seal(moved, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.wrongSignature) { try samples.open(datagram) }
    }

    @Test(arguments: [0, 1, 16, 17, 32, 33, 600, 1183, 1184, 1199]) func `a changed byte does not open`(offset: Int)
        throws
    {
        var datagram = try samples.sealed()
        datagram[offset] ^= 1
        #expect(throws: SealError.self) { try samples.open(datagram) }
    }

    @Test(arguments: [0, 1, 16, 17, 49, 128, 1199]) func `a truncated datagram has the wrong shape`(count: Int) throws {
        let datagram = try samples.sealed()
        #expect(throws: SealError.shape) { try samples.open(Array(datagram.prefix(count))) }
        #expect(throws: SealError.shape) { try samples.open(datagram + [0]) }
    }

    @Test func `a type of a later version is ignored`() throws {
        var datagram = try samples.sealed()
        datagram[0] = 3
        #expect(throws: SealError.shape) { try samples.open(datagram) }
    }

    @Test func `an advert under a label of an earlier epoch opens`() throws {
        let former = Label.random(labelKey: try SecretBytes(random: 32))
        let advert = try SignedAdvert(samples.announcement, label: former, key: samples.keyA)
        let salt = Randomness.bytes(16)
        let datagram = try AdvertSeal.seal(advert, to: samples.labelB, advertKey: samples.keys.advert, salt: salt)
        #expect(try samples.open(datagram) == .advert(samples.announcement, from: former, salt: salt))
    }

    @Test func `an advert under a label other than its sender's does not open`() throws {
        var datagram = try samples.sealed()
        datagram[5] ^= 1
        #expect(throws: SealError.notGenuine) { try samples.open(datagram) }
    }

    @Test func `a device that is not live is ignored`() throws {
        let datagram = try samples.sealed()
        #expect(throws: SealError.unknownDevice) {
            try AdvertSeal.open(
                datagram, receivers: [samples.labelB], advertKey: samples.keys.advert, publicKey: { _ in nil })
        }
    }

    @Test func `a malformed advert of a member is rejected before its signature is checked`() throws {
        let broken = SignedAdvert(label: samples.labelA, plaintext: [UInt8](repeating: 0xFF, count: 1151))
        let datagram = try AdvertSeal.seal(broken, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.malformed) { try samples.open(datagram) }
    }

    @Test func `acknowledgements open at their receiver only`() throws {
        let value = try samples.acknowledgement(salt: Randomness.bytes(16))
        let datagram = try AdvertSeal.seal(
            value, from: samples.labelB, to: samples.labelA, advertKey: samples.keys.advert)
        #expect(datagram.count == 128 && datagram.first == 2)
        #expect(
            try samples.open(datagram, receivers: [samples.labelA]) == .acknowledgement(value, from: samples.labelB))
        #expect(throws: SealError.notGenuine) { try samples.open(datagram, receivers: [samples.labelB]) }
        var asAdvert = datagram
        asAdvert[0] = 1
        #expect(throws: SealError.shape) { try samples.open(asAdvert, receivers: [samples.labelA]) }
    }

    @Test func `an acknowledgement is genuine only for the received datagram, its device and its address`() throws {
        let pair = try samples.pair
        let salt = Randomness.bytes(16)
        let value = try samples.acknowledgement(salt: salt)
        #expect(pair.isGenuine(value, salt: salt))
        #expect(!pair.isGenuine(value, salt: Randomness.bytes(16)))
        let (a, b) = (DeviceID(samples.keyA.publicKey), DeviceID(samples.keyB.publicKey))
        let position = samples.announcement.position
        let others = [
            (a, position, value.host),
            (b, Position(generation: position.generation, seq: position.seq + 1), value.host),
            (b, position, [UInt8](repeating: 7, count: 16)),
        ]
        for (device, position, host) in others {
            let changed = Acknowledgement(deviceID: device, position: position, host: host) { _ in value.code }
            #expect(!pair.isGenuine(changed, salt: salt))
        }
    }

    @Test func `another member cannot acknowledge for the receiver`() throws {
        let member = try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 0xC3, count: 32)))
        let (position, salt) = (samples.announcement.position, Randomness.bytes(16))
        // The secrets shared by the member with the sender, and with the receiver.
        for key in [samples.keyA, samples.keyB] {
            let keys = try PairwiseKeys(device: member, device: key.publicKey, accountID: samples.accountID)
            let forged = keys.acknowledgement(
                by: DeviceID(samples.keyB.publicKey), of: position, at: [UInt8](repeating: 0, count: 16), salt: salt)
            #expect(try !samples.pair.isGenuine(forged, salt: salt))
        }
    }
}
