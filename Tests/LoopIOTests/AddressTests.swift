import Glibc
import LoopIO
import Testing

struct AddressTests {
    @Test(arguments: [
        ("1.2.3.4:80", "1.2.3.4:80"), ("[::1]:65535", "[::1]:65535"), ("[2001:DB8::0:1]:0", "[2001:db8::1]:0"),
        ("[::ffff:192.0.2.7]:9", "192.0.2.7:9"), ("[fe80::1%1]:5", "[fe80::1%lo]:5"),
        ("[fe80::1%lo]:5", "[fe80::1%lo]:5"),
        ("[2001:db8::1%lo]:5", "[2001:db8::1]:5"), ("[fe80::1%4000000000]:5", "[fe80::1%4000000000]:5"),
    ])
    func `parses its own output`(_ text: String, _ canonical: String) throws {
        let address = try #require(SocketAddress(text: text))
        #expect(address.description == canonical)
        #expect(SocketAddress(text: canonical) == address)
    }

    @Test(arguments: [
        "", ":", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4:+1", "1.2.3.4: 1", "1.2.3:4", "::1:80",
        "[::1]", "[::1]:", "[::1]:x", "[1.2.3.4]:80", "[::1:80", "::1]:80", "[fe80::1%]:80", "[fe80::1%nosuch9]:80",
        "host:80", "1.2.3.4%lo:80", "[::1]:٣", "[:::]:1", "1.2.3.4\0:80", "[::1\0]:80",
        String(repeating: "1", count: 10_000) + ":1",
    ])
    func `rejects invalid addresses`(_ text: String) {
        #expect(SocketAddress(text: text) == nil)
    }

    @Test func `a mapped address is stored as IPv4`() throws {
        let mapped = try #require(IPAddress(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1]))
        #expect(mapped.isIPv4)
        #expect(mapped == IPAddress(bytes: [10, 0, 0, 1]))
        #expect(mapped.bytes == [10, 0, 0, 1])
    }

    @Test(arguments: [0, 3, 5, 15, 17])
    func `other sizes are rejected`(_ count: Int) {
        #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `a scope belongs to link local addresses only`() throws {
        let linkLocal = try #require(IPAddress(text: "fe80::1"))
        #expect(linkLocal.scope == 0)
        #expect(linkLocal.withScope(3).scope == 3)
        #expect(linkLocal.withScope(3) != linkLocal)
        #expect(IPAddress.loopbackIPv6.withScope(3) == .loopbackIPv6)
        #expect(IPAddress.loopbackIPv4.withScope(3) == .loopbackIPv4)
    }

    struct Kind: Sendable {
        var text: String
        var loopback = false
        var linkLocal = false
        var isPrivate = false
        var unspecified = false
    }

    @Test(arguments: [
        Kind(text: "127.0.0.1", loopback: true), Kind(text: "127.255.0.9", loopback: true),
        Kind(text: "::1", loopback: true), Kind(text: "128.0.0.1"), Kind(text: "::2"),
        Kind(text: "169.254.0.1", linkLocal: true), Kind(text: "169.253.0.1"),
        Kind(text: "fe80::1", linkLocal: true), Kind(text: "febf::1", linkLocal: true), Kind(text: "fec0::1"),
        Kind(text: "10.0.0.1", isPrivate: true), Kind(text: "11.0.0.1"),
        Kind(text: "172.16.0.1", isPrivate: true), Kind(text: "172.31.255.1", isPrivate: true),
        Kind(text: "172.15.0.1"), Kind(text: "172.32.0.1"),
        Kind(text: "192.168.1.1", isPrivate: true), Kind(text: "192.169.1.1"),
        Kind(text: "fc00::1", isPrivate: true), Kind(text: "fdff::1", isPrivate: true), Kind(text: "fe00::1"),
        Kind(text: "224.0.0.251"), Kind(text: "239.1.1.1"),
        Kind(text: "ff02::fb"), Kind(text: "240.0.0.1"),
        Kind(text: "0.0.0.0", unspecified: true), Kind(text: "::", unspecified: true), Kind(text: "8.8.8.8"),
    ])
    func `classifies addresses`(_ kind: Kind) throws {
        let address = try #require(IPAddress(text: kind.text))
        #expect(address.isLoopback == kind.loopback)
        #expect(address.isLinkLocal == kind.linkLocal)
        #expect(address.isPrivate == kind.isPrivate)
        #expect(address.isUnspecified == kind.unspecified)
    }

    @Test func `changing the port keeps the address`() throws {
        let address = try #require(SocketAddress(text: "[fe80::1%lo]:5"))
        #expect(address.withPort(6).description == "[fe80::1%lo]:6")
        #expect(address.host == "fe80::1%lo")
    }
}
