import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

/// Computes the worked example of docs/protocol.md and compares it with the document.
@Suite struct WorkedExampleTests {
    private let samples: SealingSamples
    private let vectors: ProtocolVectors
    private let pair: PairwiseKeys
    private let ticket: SigningKey
    private let ticketKeys: PairwiseKeys

    init() throws {
        samples = try SealingSamples()
        vectors = try ProtocolVectors("example")
        pair = try PairwiseKeys(device: samples.keyB, device: samples.keyA.publicKey, accountID: samples.accountID)
        ticket = try SigningKey(seed: SecretBytes(copying: vectors["seedTicket"]))
        ticketKeys = try PairwiseKeys(ticket: ticket, device: samples.keyA.publicKey, accountID: samples.accountID)
    }

    private func expect(_ name: String, _ value: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try vectors[name] == value, "\(name) = \(Hex.encode(value))", sourceLocation: sourceLocation)
    }

    private func secret(_ key: SecretBytes) -> [UInt8] {
        key.exposedCopy()
    }

    private func bytes(of frame: Frame) -> [UInt8] {
        var bytes: [UInt8] = []
        frame.append(to: &bytes)
        return bytes
    }

    private var salt: [UInt8] { Array(0x70...0x7F) }

    @Test func `keys`() throws {
        try expect("accountKey", secret(samples.accountKey))
        try expect("accountID", samples.accountID.bytes)
        try expect("commitment", EpochKeys.commitment(to: samples.accountKey))
        try expect("labelKey", secret(samples.keys.label))
        try expect("beaconKey", secret(samples.keys.beacon))
        try expect("advertKey", secret(samples.keys.advert))
        try expect("epochGateKey", secret(samples.keys.gate))
        try expect("seedA", secret(samples.keyA.seed))
        try expect("seedB", secret(samples.keyB.seed))
        try expect("publicA", samples.keyA.publicKey.raw)
        try expect("publicB", samples.keyB.publicKey.raw)
        try expect("deviceA", DeviceID(samples.keyA.publicKey).bytes)
        try expect("deviceB", DeviceID(samples.keyB.publicKey).bytes)
    }

    @Test func `labels`() throws {
        try expect("labelA", samples.labelA.bytes)
        try expect("labelB", samples.labelB.bytes)
        try expect("instanceA", Array(samples.labelA.instanceName.utf8))
        try expect("staticLabel", Gate.staticLabel.bytes)
    }

    @Test func `announcement`() throws {
        let text = try vectors["announcement"]
        try expect("announcement", Array(samples.announcement.encode(capacity: 1087).prefix(text.count)))
        #expect(try Announcement(decoding: text) == samples.announcement)
    }

    @Test func `beacon`() throws {
        let signed = try samples.signed()
        try expect("address4", SealingSamples.addressIPv4)
        try expect("address6", SealingSamples.addressIPv6)
        try expect("beaconHead", Array(signed.prefix(68)))
        try expect("beaconSignature", Array(signed.suffix(64)))
        try expect("salt", salt)
        let strings = try samples.beacon(salt: salt)
        // Excludes the marks: all but two are random, and so are their places.
        let record = try vectors["beaconRecord"]
        let made = strings.flatMap { [UInt8($0.count)] + $0 }
        #expect(record.count == BeaconText.recordCount)
        #expect(record.dropLast(Marks.byteCount) == made.dropLast(Marks.byteCount))
        #expect(try Array(record.suffix(Marks.byteCount)) == vectors["marks"])
    }

    @Test func `pairwise secrets`() throws {
        try expect("coordinateA", #require(samples.keyA.publicKey.montgomery))
        try expect("coordinateB", #require(samples.keyB.publicKey.montgomery))
        try expect("agreement", secret(samples.keyA.sharedSecret(with: samples.keyB.publicKey)))
        try expect("pairGateKey", secret(pair.gate))
        let period = Freshness.period(Period(unixSeconds: SealingSamples.unixSeconds))
        let echoed = try vectors["echoed"]
        let label = samples.labelA
        let four = Marks.endpoint(SealingSamples.addressIPv4, port: 24863)
        let six = Marks.endpoint(SealingSamples.addressIPv6, port: 24863)
        try expect("mark", pair.mark(under: label, salt: salt, endpoint: four, period))
        try expect("echoMark", pair.mark(under: label, salt: salt, endpoint: six, .echo(echoed, number: 1)))
        let marks = try #require(Marks(bytes: vectors["marks"]))
        func read(_ address: [UInt8], _ salts: [[UInt8]]) -> Marks.Reading {
            marks.read(
                with: pair, under: label, salt: salt, endpoint: address, unixSeconds: SealingSamples.unixSeconds,
                salts: salts)
        }
        #expect(read(four, []) == .period(Period(unixSeconds: SealingSamples.unixSeconds)))
        #expect(read(six, []) == .unproved)
        #expect(read(six, [echoed]) == .echo(echoed))
        try expect("ticketID", Fingerprint(ticket: ticket.publicKey).bytes)
        try expect("ticketGateKey", secret(ticketKeys.gate))
        try expect("ticketMark", ticketKeys.mark(under: label, salt: salt, endpoint: four, period))
    }

    @Test func `datagrams`() throws {
        let advert = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyA)
        try expect("advertSignature", Array(advert.plaintext.suffix(64)))
        try expect("advert", samples.sealed(salt: salt))
        let acknowledgement = try samples.acknowledgement(salt: salt)
        try expect("acknowledgementCode", acknowledgement.code)
        try expect(
            "acknowledgement",
            AdvertSeal.seal(
                acknowledgement, from: samples.labelB, to: samples.labelA, advertKey: samples.keys.advert, salt: salt))
    }

    @Test func `gate`() throws {
        let hello = try vectors["clientHello"]
        let toA = Gate.Greeting(hello, to: DeviceID(samples.keyA.publicKey))
        let toB = Gate.Greeting(hello, to: DeviceID(samples.keyB.publicKey))
        let epoch = samples.keys.gate
        let byID = Gate.Hint.device(DeviceID(samples.keyA.publicKey), epoch: epoch)
        func token(_ key: SecretBytes, _ hint: Gate.Hint, _ label: Label, _ greeting: Gate.Greeting) -> [UInt8] {
            Gate.token(
                key: key, hint: hint, serial: Gate.Serial(generation: 1_800_000_000, call: 7), label: label, greeting)
        }
        try expect("token", token(pair.gate, byID, samples.labelB, toB))
        try expect("pairToken", token(pair.gate, .pair, samples.labelB, toB))
        try expect("staticToken", token(pair.gate, .pair, Gate.staticLabel, toB))
        try expect("ticketToken", token(ticketKeys.gate, .pair, samples.labelA, toA))
        // The hint of an introduction is random.
        let introduction = token(epoch, .introduction, samples.labelB, toB)
        try expect("introductionToken", Array(vectors["introductionToken"].prefix(8) + introduction.dropFirst(8)))
    }

    @Test func `tokens of the earlier draft are recognised`() throws {
        let hello = try vectors["clientHello"]
        let labels = [samples.labelB] + Gate.formerStaticLabels(unixSeconds: 1_800_000_000)
        let tokens = [
            "b244f9d2008a085bd3cbbd861c2b8f3f04b7bdaeac1f31a656b7084b0c91f2b9",
            "251e1f57c6d80461dd5842afc11ee87896f457c86104946862925e60264733ec",
        ]
        for token in try tokens.map({ try #require(Hex.decode($0)) }) {
            func isFormer(by key: SecretBytes, to server: SigningKey) -> Bool {
                Gate.isFormer(
                    token, key: key, labels: labels, Gate.Greeting(hello, to: DeviceID(server.publicKey)))
            }
            #expect(isFormer(by: pair.gate, to: samples.keyB))
            #expect(!isFormer(by: pair.gate, to: samples.keyA))
            #expect(!isFormer(by: samples.keys.gate, to: samples.keyB))
        }
    }

    @Test func `frames`() throws {
        let hello = try #require(
            Hello(
                software: "example/1", kind: .laptop, port: 24863, label: samples.labelA, generation: 1_800_000_000,
                seq: 5, listSeq: 4, seenGeneration: 1_799_999_999, rosterDigest: Array(0x60...0x67),
                epoch: Array(EpochKeys.commitment(to: samples.accountKey).prefix(8))))
        try expect("helloFrame", bytes(of: Frame(.hello, hello.encoded())))
        // Decoded and encoded again, because the parameters are JSON, which this target does not
        // import.
        let body = Array(try vectors["requestFrame"].dropFirst(Frame.headerCount))
        let request = try PeerRequest(decoding: body)
        #expect(request.id == 1 && request.method == PeerMethod.continueActivity)
        try expect("requestFrame", bytes(of: Frame(.request, request.encoded())))
    }
}
