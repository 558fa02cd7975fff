import HandoffModel
import Testing

@Suite struct StaticAddressTests {
    @Test(arguments: [
        ("desk:1", "desk", 1), ("desk.example.org.:24863", "desk.example.org.", 24863),
        ("192.0.2.1:65535", "192.0.2.1", 65535),
        ("[2001:db8::1]:80", "2001:db8::1", 80), ("[fe80::1%eth0]:80", "fe80::1%eth0", 80),
    ])
    func `parses and prints an address`(_ text: String, _ host: String, _ port: UInt16) throws {
        let address = try #require(StaticAddress(text))
        #expect(address.host == host && address.port == port)
        #expect(address.text == text)
    }

    @Test(arguments: [
        ("[fe80::1]:80", true), ("[FEBF:0::1]:80", true), ("[fe80::1%]:80", true), ("[fe80::1%eth0]:80", false),
        ("[fec0::1]:80", false), ("[fe8::1]:80", false), ("[::fe80:1]:80", false), ("[2001:db8::fe80]:80", false),
        ("fe80:80", false), ("192.0.2.1:80", false),
    ])
    func `a link-local address requires an interface`(_ text: String, _ needsZone: Bool) throws {
        #expect(try #require(StaticAddress(text)).needsZone == needsZone)
    }

    @Test(arguments: [
        "", ":", ":1", "desk", "desk:", "desk:0", "desk:65536", "desk:+1", "desk: 1", "de sk:1", "-desk:1",
        "fe80::1:80",
        "[desk]:1", "[192.0.2.1]:1", "[]:1", "[fe80::1:80", "k\u{E4}se:1",
    ])
    func `rejects anything else`(_ text: String) {
        #expect(StaticAddress(text) == nil)
        #expect(StaticAddress(String(repeating: "a", count: 254) + ":1") == nil)
    }
}
