import HandoffDiscovery
import HandoffModel
import LoopIO
import Testing

/// The multicast DNS packets that the responder reads.
@Suite struct PacketGateTests {
    private var gate = PacketGate(serviceType: "_handoff._tcp")

    init() {
        gate.setMembership { $0.hasPrefix("member") }
    }

    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: UInt64(seconds * 1e9)) }

    private mutating func admits(_ packet: PlayedPacket, at seconds: Double = 1) -> Bool {
        packet.bytes.withUnsafeBytes { gate.admits($0, at: at(seconds)) }
    }

    @Test
    mutating func `packets about another service are rejected`() {
        #expect(!admits(.announcement("a", service: "_other._tcp.local")))
        #expect(!admits(.announcement("a", service: "_handoff._tcp.local.example")))
        #expect(!admits(.announcement("a", service: "x_handoff._tcp.local")))
        #expect(admits(.announcement("a")))
        #expect(admits(.announcement("A", service: "_Handoff._TCP.Local")))
    }

    @Test
    mutating func `unknown devices have a shared budget, and members are always admitted`() {
        var admitted = 0
        for number in 0..<20_000 {
            if admits(.announcement("stranger\(number)"), at: Double(number) / 2000) { admitted += 1 }
            if number % 2000 == 1999 { #expect(admits(.announcement("member\(number)"), at: Double(number) / 2000)) }
        }
        // A burst of 4,096 records, and 10 per second; four in each packet.
        #expect((1024...1064).contains(admitted))
    }

    @Test(arguments: ["_handoff._tcp.local", "member1._handoff._tcp.local", "host-of-member1.local", "other.local"])
    mutating func `a packet with an alias is rejected, even from a member`(owner: String) {
        var packet = PlayedPacket.announcement("member1")
        packet.add(owner, .instances, target: owner, isAlias: true)
        #expect(!admits(packet))
        #expect(admits(.announcement("member1")))
    }

    @Test
    mutating func `records with a long lifetime cost more`() {
        let admitted = (0..<1000).count { admits(.announcement("stranger\($0)", lifetime: 9000)) }
        #expect(admitted == 102)
        #expect(!admits(.announcement("stranger", lifetime: .max), at: 1_000_000))
    }

    @Test
    mutating func `repeating the records of one member does not exclude another`() {
        let admitted = (0..<5000).count { _ in admits(.announcement("member1")) }
        #expect(admitted == 128)
        #expect(admits(.announcement("member2")))
        #expect(admits(.announcement("member1"), at: 2))
    }

    @Test
    mutating func `addresses are admitted while they are queried`() {
        var packet = PlayedPacket()
        packet.add("Some-Host.local", .ipv4)
        #expect(!admits(packet))
        gate.expect(host: "some-host.local", of: "member1")
        #expect(admits(packet))
        gate.forget(host: "some-host.local")
        #expect(!admits(packet))
    }

    @Test
    mutating func `queries are rate-limited`() {
        #expect((0..<1000).count { _ in admits(PlayedPacket(isResponse: false)) } == 200)
        #expect((0..<1000).count { _ in admits(PlayedPacket(isResponse: false), at: 2) } == 100)
    }

    @Test
    mutating func `a truncated packet is rejected and never traps`() {
        let whole = PlayedPacket.announcement("a").bytes
        for count in whole.indices {
            #expect(Array(whole[..<count]).withUnsafeBytes { MulticastPacket($0) } == nil)
        }
        for index in whole.indices {
            for byte: UInt8 in [0, 1, 0x3f, 0x40, 0xc0, 0xff] {
                var changed = whole
                changed[index] = byte
                _ = changed.withUnsafeBytes { MulticastPacket($0) }
            }
        }
    }

    @Test
    mutating func `compression loops and too many records are rejected`() {
        var packet = PlayedPacket.announcement("a").bytes
        packet.replaceSubrange(12..<14, with: [0xc0, 12])
        #expect(packet.withUnsafeBytes { MulticastPacket($0) } == nil)
        var crowd = PlayedPacket()
        for _ in 0..<65 { crowd.add("_handoff._tcp.local", .instances, target: "a._handoff._tcp.local") }
        #expect(crowd.bytes.withUnsafeBytes { MulticastPacket($0) } == nil)
    }
}
