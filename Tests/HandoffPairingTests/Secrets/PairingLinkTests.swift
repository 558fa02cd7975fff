import HandoffCrypto
import HandoffPairing
import Testing

struct PairingLinkTests {
    private static let secret = "aeaqcaibaeaqcaibaeaqcaibae"

    @Test func `a link is read back as written`() throws {
        let places = ["192.0.2.1:24863", "[fe80::1%eth0]:24863", "host.local:1", "[2001:db8::1]:65535"]
        let link = try PairingLink(candidates: places)
        let read = try #require(PairingLink(link.text))
        #expect(read == link)
        #expect(read.candidates == places)
        #expect(read.text == link.text)
        #expect(PairingLink(" \(link.text)\r\n") == link)
    }

    @Test func `the format is fixed`() {
        let link = PairingSamples.link()
        #expect(link.text == "handoff:pair/1/\(Self.secret)/192.0.2.1:24863")
    }

    @Test(arguments: [
        "", "handoff:", "handoff:pair/1/", "handoff:pair/1//192.0.2.1:1",
        "handoff:pair/2/\(secret)/192.0.2.1:1",
        "HANDOFF:pair/1/\(secret)/192.0.2.1:1",
        "handoff:pair/1/\(secret.uppercased())/192.0.2.1:1",
        "handoff:pair/1/\(secret)a/192.0.2.1:1",
        "handoff:pair/1/\(secret.dropLast())/192.0.2.1:1",
        "handoff:pair/1/\(secret.dropLast())f/192.0.2.1:1",
        "handoff:pair/1/\(secret)/", "handoff:pair/1/\(secret)", "handoff:pair/1/\(secret)/192.0.2.1",
        "handoff:pair/1/\(secret)/192.0.2.1:0", "handoff:pair/1/\(secret)/192.0.2.1:65536",
        "handoff:pair/1/\(secret)/192.0.2.1:+1", "handoff:pair/1/\(secret)/192.0.2.1:01",
        "handoff:pair/1/\(secret)/:1", "handoff:pair/1/\(secret)/[]:1", "handoff:pair/1/\(secret)/fe80::1:1",
        "handoff:pair/1/\(secret)/a b:1", "handoff:pair/1/\(secret)/a:1,", "handoff:pair/1/\(secret)/,a:1",
        "handoff:pair/1/\(secret)/a:1,,b:1", "handoff:pair/1/\(secret)/a:1/", "handoff:pair/1/\(secret)/a:1?x",
        "handoff:pair/1/\(secret)/a:1#x", "handoff:pair/1/\(secret)/é:1", "handoff:pair/1/\(secret)/a\u{301}:1",
        "handoff:pair/1/\(secret)/a:1\u{0}", "handoff:pair/1/\(secret)/a:1 b",
        "handoff:pair/1/\(secret)/user@a:1",
        "handoff:pair/1/\(secret)/" + (1...9).map { "a:\($0)" }.joined(separator: ","),
        "handoff:pair/1/\(secret)/" + String(repeating: "a", count: 500) + ":1",
        String(repeating: " ", count: 100_000),
    ])
    func `everything else is rejected`(_ text: String) {
        #expect(PairingLink(text) == nil)
    }

    @Test func `candidates that do not fit are omitted`() throws {
        let long = String(repeating: "a", count: 200)
        let link = try PairingLink(candidates: ["no port", "\(long):1", "\(long):2", "\(long):3", "b:1", "b:1"])
        #expect(link.candidates == ["\(long):1", "\(long):2", "b:1"])
        #expect(link.text.utf8.count <= PairingLink.maxText)
        #expect(PairingLink(link.text) == link)
        #expect(try PairingLink(candidates: (1...20).map { "b:\($0)" }).candidates.count == 8)
    }

    @Test func `a token opens only for its record`() throws {
        let link = PairingSamples.link()
        let record: [UInt8] = [0x16, 3, 1, 0, 4, 1, 2, 3, 4]
        let token = try #require(link.token(clientHello: record))
        #expect(token.count == PairingLink.tokenCount)
        #expect(link.isValid(token, clientHello: record))
        #expect(!link.isValid(token, clientHello: record + [5]))
        #expect(!link.isValid(Array(token.dropLast()), clientHello: record))
        #expect(!link.isValid([], clientHello: record))
        #expect(!PairingSamples.link(2).isValid(token, clientHello: record))
    }

    @Test func `a token never starts like a record`() {
        let link = PairingSamples.link()
        let tokens = (0..<2_000).map { link.token(clientHello: [0x16, UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
        #expect(tokens.contains(nil))
        #expect(!tokens.contains { $0?.first == PairingLink.handshakeRecord })
    }

    @Test func `a link is never printed`() {
        let link = PairingSamples.link()
        var dumped = ""
        dump(link, to: &dumped)
        for text in ["\(link)", String(reflecting: link), dumped] { #expect(!text.contains(Self.secret.prefix(8))) }
    }
}
