import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct AdvertSealTests {
    private let samples: SealingSamples

    init() throws {
        samples = try SealingSamples()
    }

    @Test func theReceiverReadsWhatTheDeviceSaid() throws {
        let datagram = try samples.sealed()
        #expect(datagram.count == 1200 && datagram.first == 1)
        #expect(try samples.open(datagram) == .advert(samples.announcement, from: samples.labelA))
    }

    @Test func oneSignatureServesAllReceivers() throws {
        let advert = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyA)
        for label in [samples.labelB, .random(labelKey: samples.keys.label)] {
            let datagram = try AdvertSeal.seal(advert, to: label, advertKey: samples.keys.advert)
            #expect(
                try samples.open(datagram, receivers: [label]) == .advert(samples.announcement, from: samples.labelA))
        }
    }

    @Test func theLabelBeforeThePresentOneIsHonoured() throws {
        let datagram = try samples.sealed()
        let present = Label.random(labelKey: samples.keys.label)
        let opened = try samples.open(datagram, receivers: [present, samples.labelB])
        #expect(opened == .advert(samples.announcement, from: samples.labelA))
        #expect(throws: SealError.notGenuine) { try samples.open(datagram, receivers: [present]) }
        #expect(throws: SealError.shape) { try samples.open(datagram, receivers: []) }
    }

    @Test func aDatagramForBIsRefusedAtC() throws {
        let labelC = Label.random(labelKey: samples.keys.label)
        let datagram = try samples.sealed(to: samples.labelB)
        #expect(throws: SealError.notGenuine) { try samples.open(datagram, receivers: [labelC]) }
    }

    @Test func aReflectedDatagramIsRefusedByItsSender() throws {
        let datagram = try samples.sealed()
        #expect(throws: SealError.notGenuine) { try samples.open(datagram, receivers: [samples.labelA]) }
    }

    @Test func anAdvertOfASignedByBIsRefused() throws {
        let forged = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyB)
        let datagram = try AdvertSeal.seal(forged, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.wrongSignature) { try samples.open(datagram) }
    }

    @Test func aMemberCannotPassOnAnothersAdvertUnderItsOwnLabel() throws {
        let advert = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyA)
        let own = Label.random(labelKey: samples.keys.label)
        let moved = SignedAdvert(label: own, plaintext: advert.plaintext)
        let datagram = try AdvertSeal.seal(moved, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.wrongSignature) { try samples.open(datagram) }
    }

    @Test func theBytesOfABeaconSentAsADatagramAreRefused() throws {
        let strings = try samples.beacon()
        let record = strings.flatMap { [UInt8($0.count)] + $0 }
        let sealed = strings.dropFirst().flatMap { $0.dropFirst(3) }
        var padded = [1] + samples.labelA.bytes + sealed
        padded += [UInt8](repeating: 0, count: 1200 - padded.count)
        #expect(throws: SealError.shape) { try samples.open(record) }
        #expect(throws: SealError.shape) { try samples.open(sealed) }
        #expect(throws: SealError.notGenuine) { try samples.open(padded) }
    }

    @Test func aBeaconsSignatureIsVoidInAnAdvert() throws {
        let body = samples.announcement.encode(capacity: SignedAdvert.bodyCount)
        let input = Array("handoff/1 beacon sig".utf8) + [0] + samples.labelA.bytes + body
        let signature = try samples.keyA.sign(input)
        let moved = SignedAdvert(label: samples.labelA, plaintext: body + signature)
        let datagram = try AdvertSeal.seal(moved, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.wrongSignature) { try samples.open(datagram) }
    }

    @Test(arguments: [0, 1, 16, 17, 32, 33, 600, 1183, 1184, 1199]) func aChangedByteDoesNotOpen(offset: Int) throws {
        var datagram = try samples.sealed()
        datagram[offset] ^= 1
        #expect(throws: SealError.self) { try samples.open(datagram) }
    }

    @Test(arguments: [0, 1, 16, 17, 49, 128, 1199]) func aCutDatagramHasTheWrongShape(count: Int) throws {
        let datagram = try samples.sealed()
        #expect(throws: SealError.shape) { try samples.open(Array(datagram.prefix(count))) }
        #expect(throws: SealError.shape) { try samples.open(datagram + [0]) }
    }

    @Test func aTypeOfALaterVersionIsIgnored() throws {
        var datagram = try samples.sealed()
        datagram[0] = 3
        #expect(throws: SealError.shape) { try samples.open(datagram) }
    }

    @Test func aSenderOfAnotherAccountCostsOneHMAC() throws {
        var datagram = try samples.sealed()
        datagram[5] ^= 1
        #expect(throws: SealError.foreignLabel) { try samples.open(datagram) }
    }

    @Test func aDeviceThatIsNotLiveIsNotHeard() throws {
        let datagram = try samples.sealed()
        #expect(throws: SealError.unknownDevice) {
            try AdvertSeal.open(
                datagram, receivers: [samples.labelB], labelKey: samples.keys.label, advertKey: samples.keys.advert,
                publicKey: { _ in nil })
        }
    }

    @Test func aMemberWithABrokenProgramIsRefusedBeforeItsSignature() throws {
        let broken = SignedAdvert(label: samples.labelA, plaintext: [UInt8](repeating: 0xFF, count: 1151))
        let datagram = try AdvertSeal.seal(broken, to: samples.labelB, advertKey: samples.keys.advert)
        #expect(throws: SealError.malformed) { try samples.open(datagram) }
    }

    @Test func acknowledgementsOpenAtTheirReceiverOnly() throws {
        let value = Acknowledgement(
            deviceID: DeviceID(samples.keyB.publicKey), position: samples.announcement.position)
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
}
