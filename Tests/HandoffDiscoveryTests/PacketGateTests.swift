import HandoffDiscovery
import LoopIO
import Testing
import Timing

/// Which packets of multicast DNS are read.
@Suite struct PacketGateTests {
    /// One packet, with names as they are given; a name that was written before is pointed to.
    struct Packet {
        var bytes: [UInt8]
        private var places: [String: Int] = [:]
        private var records: UInt16 = 0

        init(isResponse: Bool = true) {
            bytes = [0, 0, isResponse ? 0x84 : 0, 0] + [UInt8](repeating: 0, count: 8)
        }

        private mutating func u16(_ number: Int) {
            bytes += [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
        }

        private mutating func name(_ text: String) {
            var rest = text.split(separator: ".", omittingEmptySubsequences: false)
            while !rest.isEmpty {
                let left = rest.joined(separator: ".")
                if let place = places[left] { return u16(0xc000 | place) }
                places[left] = bytes.count
                let label = rest.removeFirst()
                bytes += [UInt8(truncatingIfNeeded: label.utf8.count)] + label.utf8
            }
            bytes.append(0)
        }

        mutating func add(_ owner: String, _ kind: RecordQuery.Kind, lifetime: UInt32 = 120, target: String? = nil) {
            records += 1
            bytes.replaceSubrange(6..<8, with: [UInt8(records >> 8), UInt8(records & 0xff)])
            name(owner)
            u16(Int(kind.rawValue))
            u16(1)
            u16(Int(lifetime >> 16))
            u16(Int(lifetime & 0xffff))
            let length = bytes.count
            u16(0)
            if let target { name(target) } else { bytes += [1, 2, 3, 4] }
            let count = bytes.count - length - 2
            bytes[length] = UInt8(truncatingIfNeeded: count >> 8)
            bytes[length + 1] = UInt8(truncatingIfNeeded: count)
        }

        /// Announces an instance with all of its records.
        static func announcement(_ instance: String, service: String = "_handoff._tcp.local", lifetime: UInt32 = 120)
            -> Packet
        {
            var packet = Packet()
            packet.add(service, .instances, lifetime: lifetime, target: "\(instance).\(service)")
            packet.add("\(instance).\(service)", .text, lifetime: lifetime)
            packet.add("\(instance).\(service)", .target, lifetime: lifetime)
            packet.add("host-of-\(instance).local", .ipv4, lifetime: lifetime)
            return packet
        }
    }

    private var gate = PacketGate(serviceType: "_handoff._tcp")

    init() {
        gate.setMembership { $0.hasPrefix("member") }
    }

    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: UInt64(seconds * 1e9)) }

    private mutating func admits(_ packet: Packet, at seconds: Double = 1) -> Bool {
        packet.bytes.withUnsafeBytes { gate.admits($0, at: at(seconds)) }
    }

    @Test
    mutating func `what is about another service is not read`() {
        #expect(!admits(.announcement("a", service: "_other._tcp.local")))
        #expect(!admits(.announcement("a", service: "_handoff._tcp.local.example")))
        #expect(!admits(.announcement("a", service: "x_handoff._tcp.local")))
        #expect(admits(.announcement("a")))
        #expect(admits(.announcement("A", service: "_Handoff._TCP.Local")))
    }

    @Test
    mutating func `strangers are read as far as a budget goes, and a member beside them always`() {
        var taken = 0
        for number in 0..<20_000 {
            if admits(.announcement("stranger\(number)"), at: Double(number) / 2000) { taken += 1 }
            if number % 2000 == 1999 { #expect(admits(.announcement("member\(number)"), at: Double(number) / 2000)) }
        }
        // 4,096 records at once, and 10 a second; four in each.
        #expect((1024...1064).contains(taken))
    }

    @Test
    mutating func `what is to be kept for long costs more`() {
        let taken = (0..<1000).count { admits(.announcement("stranger\($0)", lifetime: 9000)) }
        #expect(taken == 102)
        #expect(!admits(.announcement("stranger", lifetime: .max), at: 1_000_000))
    }

    @Test
    mutating func `whoever repeats the records of one member keeps out no other`() {
        let taken = (0..<5000).count { _ in admits(.announcement("member1")) }
        #expect(taken == 128)
        #expect(admits(.announcement("member2")))
        #expect(admits(.announcement("member1"), at: 2))
    }

    @Test
    mutating func `addresses are read while they are asked for`() {
        var packet = Packet()
        packet.add("Some-Host.local", .ipv4)
        #expect(!admits(packet))
        gate.expect(host: "some-host.local", of: "member1")
        #expect(admits(packet))
        gate.forget(host: "some-host.local")
        #expect(!admits(packet))
    }

    @Test
    mutating func `questions are read at a rate`() {
        #expect((0..<1000).count { _ in admits(Packet(isResponse: false)) } == 200)
        #expect((0..<1000).count { _ in admits(Packet(isResponse: false), at: 2) } == 100)
    }

    @Test
    mutating func `a packet that is cut anywhere is not read, and never traps`() {
        let whole = Packet.announcement("a").bytes
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
    mutating func `names that lead in circles, and more records than anybody needs, are not read`() {
        var packet = Packet.announcement("a").bytes
        packet.replaceSubrange(12..<14, with: [0xc0, 12])
        #expect(packet.withUnsafeBytes { MulticastPacket($0) } == nil)
        var crowd = Packet()
        for _ in 0..<65 { crowd.add("_handoff._tcp.local", .instances, target: "a._handoff._tcp.local") }
        #expect(crowd.bytes.withUnsafeBytes { MulticastPacket($0) } == nil)
    }
}
