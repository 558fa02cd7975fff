import HandoffDiscovery
import LoopIO
import Testing

struct RecordDataTests {
    @Test(arguments: [[], [[1]], [[1, 2], [3]], [Array(repeating: 7, count: 255)]] as [[[UInt8]]])
    func `text survives encoding and decoding`(_ strings: [[UInt8]]) throws {
        let data = try #require(TextData.encode(strings))
        #expect(TextData.decode(data) == strings)
    }

    @Test func `empty text has one empty string`() {
        #expect(TextData.encode([]) == [0])
        #expect(TextData.decode([]) == [])
        #expect(TextData.decode([0, 1, 5, 0]) == [[5]])
    }

    @Test func `rejects text that is truncated or too long`() {
        #expect(TextData.decode([2, 1]) == nil)
        #expect(TextData.decode([1, 1, 255]) == nil)
        #expect(TextData.decode([UInt8](repeating: 0, count: 1301)) == nil)
        #expect(TextData.encode([Array(repeating: 7, count: 256)]) == nil)
        #expect(TextData.encode(Array(repeating: Array(repeating: 7, count: 255), count: 6)) == nil)
    }

    @Test func `accepts text up to the limit`() throws {
        let strings = Array(repeating: [UInt8](repeating: 7, count: 255), count: 5) + [Array(repeating: 8, count: 19)]
        let data = try #require(TextData.encode(strings))
        #expect(data.count == TextData.maxByteCount)
        #expect(TextData.decode(data) == strings)
    }

    @Test func `target survives encoding and decoding`() throws {
        let target = ServiceTarget(host: try #require(DomainName("host.local")), port: 24863)
        #expect(target.data.prefix(6) == [0, 0, 0, 0, 0x61, 0x1f])
        #expect(ServiceTarget(data: target.data) == target)
    }

    @Test func `target ignores priority and weight`() throws {
        let name = try #require(DomainName("host.local"))
        #expect(ServiceTarget(data: [1, 2, 3, 4, 0, 80] + name.wire) == ServiceTarget(host: name, port: 80))
    }

    @Test(arguments: [[], [0, 0, 0, 0, 0, 80], [0, 0, 0, 0, 0, 80, 0], [0, 0, 0, 0, 0, 0, 1, 0x61, 0]] as [[UInt8]])
    func `rejects a target without host or port`(_ data: [UInt8]) {
        #expect(ServiceTarget(data: data) == nil)
    }

    @Test(arguments: [
        ("10.1.2.3", "10.1.2.200", 24, true), ("10.1.2.3", "10.1.3.3", 24, false), ("10.1.2.3", "10.1.3.3", 23, true),
        ("10.1.2.3", "99.1.2.3", 0, true), ("10.1.2.3", "10.1.2.3", 32, true), ("10.1.2.3", "10.1.2.2", 32, false),
        ("10.1.2.3", "10.1.2.3", 33, false), ("10.1.2.3", "10.1.2.3", -1, false), ("10.1.2.3", "fd00::1", 8, false),
        ("fd00:1::1", "fd00:1::2", 64, true), ("fd00:1::1", "fd00:2::1", 64, false), ("fd00::1", "fd00::2", 127, false),
    ])
    func `compares prefixes`(_ one: String, _ other: String, _ length: Int, _ expected: Bool) throws {
        let addresses = (try #require(IPAddress(text: one)), try #require(IPAddress(text: other)))
        #expect(addresses.0.matches(addresses.1, prefixLength: length) == expected)
    }

    @Test(arguments: [
        ("10.1.2.3", true), ("0.0.0.0", false), ("0.1.2.3", false), ("224.0.0.251", false), ("255.255.255.255", false),
        ("240.0.0.1", false), ("fe80::1", true), ("::", false), ("::1", true), ("ff02::fb", false),
    ])
    func `recognizes unicast addresses`(_ text: String, _ expected: Bool) throws {
        #expect(try #require(IPAddress(text: text)).isUnicast == expected)
    }
}
