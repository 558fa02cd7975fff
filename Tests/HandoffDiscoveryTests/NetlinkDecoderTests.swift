import HandoffDiscovery
import HandoffModel
import LoopIO
import Testing

struct NetlinkDecoderTests {
    static func bytes(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    static func bytes(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let bytes = bytes(UInt16(value.count + 4)) + bytes(type) + value
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    static func message(_ type: UInt16, sequence: UInt32 = 7, _ body: [UInt8]) -> [UInt8] {
        let bytes =
            bytes(UInt32(body.count + 16)) + bytes(type) + bytes(UInt16(0)) + bytes(sequence) + bytes(UInt32(0)) + body
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    static func link(_ type: UInt16, family: UInt8 = 0, name: String = "eth0") -> [UInt8] {
        message(
            type,
            [family, 0] + bytes(UInt16(1)) + bytes(UInt32(5)) + bytes(UInt32(0x43)) + bytes(UInt32(0))
                + attribute(1, [1, 2, 3, 4, 5, 6]) + attribute(3, Array(name.utf8) + [0]))
    }

    private static func address(_ type: UInt16, _ attributes: [UInt8], flags: UInt8 = 0x80) -> [UInt8] {
        message(type, [2, 24, flags, 0] + bytes(UInt32(5)) + attributes)
    }

    @Test func `decodes several messages in one datagram`() throws {
        let datagram =
            Self.link(16) + Self.address(20, Self.attribute(1, [10, 0, 0, 1]))
            + Self.address(21, Self.attribute(1, [10, 0, 0, 2])) + Self.link(17) + Self.message(3, [0, 0, 0, 0])
        #expect(
            NetlinkDecoder.decode(datagram[...]) == [
                .link(index: 5, name: "eth0", flags: 0x43),
                .address(try Fixture.local(5, "10.0.0.1", 24), flags: 0x80),
                .addressGone(try Fixture.local(5, "10.0.0.2", 24)),
                .linkGone(index: 5),
                .done(sequence: 7),
            ])
    }

    @Test func `prefers the local address and the long flags`() throws {
        let attributes =
            Self.attribute(1, [10, 0, 0, 9]) + Self.attribute(2, [10, 0, 0, 1])
            + Self.attribute(8, Self.bytes(UInt32(0x300)))
        #expect(
            NetlinkDecoder.decode(Self.address(20, attributes)[...]) == [
                .address(try Fixture.local(5, "10.0.0.1", 24), flags: 0x300)
            ])
    }

    @Test func `decodes gateways and neighbors`() throws {
        // struct rtmsg: family, bits of destination and source, service, table, protocol, scope,
        // type, flags.
        func route(bits: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1, _ attributes: [UInt8]) -> [UInt8] {
            Self.message(24, [2, bits, 0, 0, table, 3, 0, type] + Self.bytes(UInt32(0)) + attributes)
        }
        let way = Self.attribute(4, Self.bytes(UInt32(5))) + Self.attribute(5, [192, 0, 2, 1])
        let neighbour =
            [2, 0, 0, 0] + Self.bytes(UInt32(5)) + Self.bytes(UInt16(2)) + [0, 1]
            + Self.attribute(1, [192, 0, 2, 1])
        let hardware = try #require(HardwareAddress(bytes: [2, 0, 0, 0, 0, 9]))
        let gateway = try #require(IPAddress(text: "192.0.2.1"))
        let datagram =
            route(way) + route(bits: 24, way) + route(table: 255, way) + route(type: 7, way)
            + route(Self.attribute(4, Self.bytes(UInt32(5))))
            + Self.message(28, neighbour + Self.attribute(2, hardware.bytes)) + Self.message(28, neighbour)
            + Self.message(28, neighbour + Self.attribute(2, [1, 2, 3])) + Self.message(28, [2, 0])
            + Self.message(24, [2])
        #expect(
            NetlinkDecoder.decode(datagram[...]) == [
                .gateway(gateway, interface: 5), .neighbour(gateway, hardware, interface: 5),
            ])
    }

    @Test func `ignores bridge ports`() {
        #expect(NetlinkDecoder.decode(Self.link(17, family: 7)[...]) == [])
    }

    @Test func `decodes refusals`() {
        let refusal = Self.message(2, Self.bytes(UInt32(bitPattern: -16)))
        #expect(NetlinkDecoder.decode(refusal[...]) == [.refused(16, sequence: 7)])
        #expect(NetlinkDecoder.decode(Self.message(2, Self.bytes(UInt32(0)))[...]) == [])
    }

    @Test func `never traps on truncated messages`() {
        let datagram = Self.link(16) + Self.address(20, Self.attribute(1, [10, 0, 0, 1]))
        for count in 0..<datagram.count {
            #expect(NetlinkDecoder.decode(datagram.prefix(count)).count <= 1)
        }
        // Incorrect lengths.
        for index in [0, 1, 32, 33, 34] {
            var damaged = datagram
            damaged[index] = 0xff
            #expect(NetlinkDecoder.decode(damaged[...]).count <= 2)
            damaged[index] = 0
            #expect(NetlinkDecoder.decode(damaged[...]).count <= 2)
        }
    }
}
