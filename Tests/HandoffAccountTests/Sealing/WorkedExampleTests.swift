import FoundationEssentials
import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

/// Computes the worked example of docs/protocol.md, and compares it with what stands there.
@Suite struct WorkedExampleTests {
    private let samples: SealingSamples
    private let vectors: [String: [UInt8]]

    init() throws {
        samples = try SealingSamples()
        vectors = try Self.readVectors()
    }

    /// The fenced block `vectors`: `name = hex`, continued on lines that begin with a space.
    private static func readVectors() throws -> [String: [UInt8]] {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let data = try Data(contentsOf: URL(filePath: "/" + root + "/docs/protocol.md"))
        let page = try #require(String(data: data, encoding: .utf8))
        let block = try #require(page.split(separator: "```vectors\n").last?.split(separator: "```").first)
        var texts: [String: String] = [:]
        var name = ""
        for line in block.split(separator: "\n") {
            if line.hasPrefix(" ") {
                texts[name, default: ""] += line
            } else {
                let parts = line.split(separator: " ", maxSplits: 2)
                name = String(try #require(parts.first))
                texts[name] = parts.count == 3 ? String(parts[2]) : ""
            }
        }
        return try texts.mapValues { try #require(Hex.decode($0)) }
    }

    private func expect(_ name: String, _ value: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(vectors[name] == value, "\(name) = \(Hex.encode(value))", sourceLocation: sourceLocation)
    }

    private func secret(_ key: SecretBytes) -> [UInt8] {
        key.exposedCopy()
    }

    private var salt: [UInt8] { Array(0x70...0x7F) }

    @Test func theExampleNamesEveryValueOnce() {
        #expect(vectors.count == 36)
    }

    @Test func keys() {
        expect("accountKey", secret(samples.accountKey))
        expect("accountID", samples.accountID.bytes)
        expect("epoch", [0, 0, 0, 0, 0, 0, 0, 7])
        expect("labelKey", secret(samples.keys.label))
        expect("beaconKey", secret(samples.keys.beacon))
        expect("advertKey", secret(samples.keys.advert))
        expect("gateKey", secret(samples.keys.gate))
        expect("seedA", secret(samples.keyA.seed))
        expect("seedB", secret(samples.keyB.seed))
        expect("publicA", samples.keyA.publicKey.raw)
        expect("publicB", samples.keyB.publicKey.raw)
        expect("deviceA", DeviceID(samples.keyA.publicKey).bytes)
        expect("deviceB", DeviceID(samples.keyB.publicKey).bytes)
    }

    @Test func labels() {
        expect("labelA", samples.labelA.bytes)
        expect("labelB", samples.labelB.bytes)
        expect("instanceA", Array(samples.labelA.instanceName.utf8))
        expect(
            "staticLabel",
            Gate.staticLabel(labelKey: samples.keys.label, unixSeconds: 1_800_000_000).bytes)
    }

    @Test func announcement() throws {
        let text = try #require(vectors["announcement"])
        expect("announcement", Array(samples.announcement.encode(capacity: 1087).prefix(text.count)))
        #expect(try Announcement(decoding: text) == samples.announcement)
    }

    @Test func beacon() throws {
        let signed = try BeaconSeal.sign(samples.announcement, label: samples.labelA, key: samples.keyA)
        expect("beaconSignature", Array(signed.suffix(64)))
        expect("salt", salt)
        let strings = try samples.beacon(salt: salt, marks: marks)
        expect("beaconRecord", strings.flatMap { [UInt8($0.count)] + $0 })
    }

    /// 0 to 127, and B's mark in the fourth place.
    private var marks: Marks {
        get throws {
            var bytes: [UInt8] = Array(0..<UInt8(Marks.byteCount))
            bytes.replaceSubrange(24..<32, with: try pair.mark(under: samples.labelA))
            return try #require(Marks(bytes: bytes))
        }
    }

    private var pair: PairKeys {
        get throws { try PairKeys(own: samples.keyB, other: samples.keyA.publicKey, accountID: samples.accountID) }
    }

    @Test func missingMembers() throws {
        expect("coordinateA", try #require(samples.keyA.publicKey.montgomery))
        expect("coordinateB", try #require(samples.keyB.publicKey.montgomery))
        expect("agreement", secret(try samples.keyA.sharedSecret(with: samples.keyB.publicKey)))
        expect("mark", try pair.mark(under: samples.labelA))
        expect("marks", try marks.bytes)
        expect("markGateKey", secret(try pair.gate))
        let clientHello = try #require(vectors["clientHello"])
        expect(
            "markToken", Gate.token(gateKey: try pair.gate, label: samples.labelA, clientHello: clientHello))
    }

    @Test func datagrams() throws {
        let advert = try SignedAdvert(samples.announcement, label: samples.labelA, key: samples.keyA)
        expect("advertSignature", Array(advert.frameBody.suffix(64)))
        expect("advert", try samples.sealed(salt: salt))
        let acknowledgement = Acknowledgement(
            deviceID: DeviceID(samples.keyB.publicKey), position: samples.announcement.position)
        expect(
            "acknowledgement",
            try AdvertSeal.seal(
                acknowledgement, from: samples.labelB, to: samples.labelA, advertKey: samples.keys.advert, salt: salt))
    }

    @Test func gate() throws {
        let clientHello = try #require(vectors["clientHello"])
        let key = samples.keys.gate
        expect("token", Gate.token(gateKey: key, label: samples.labelB, clientHello: clientHello))
        let label = Gate.staticLabel(labelKey: samples.keys.label, unixSeconds: 1_800_000_000)
        expect("staticToken", Gate.token(gateKey: key, label: label, clientHello: clientHello))
    }

    @Test func frames() throws {
        let hello = try #require(
            Hello(
                software: "example/1", kind: .laptop, port: 24863, label: samples.labelA, boot: 1_800_000_000,
                seenBoot: 1_799_999_999, rosterDigest: Array(0x60...0x67), epoch: 7, epochIsCurrent: true))
        expect("helloFrame", try #require(FrameEncoder.encode(Frame(.hello, hello.encoded()))))
        // Read and written again, as the parameters are JSON, which this target does not import.
        let body = Array(try #require(vectors["requestFrame"]).dropFirst(FrameEncoder.headerCount))
        let request = try PeerRequest(decoding: body)
        #expect(request.id == 1 && request.method == PeerMethod.continueActivity)
        expect("requestFrame", try #require(FrameEncoder.encode(Frame(.request, request.encoded()))))
    }
}
