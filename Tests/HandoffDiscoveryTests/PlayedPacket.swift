import HandoffDiscovery
import LoopIO

/// A multicast DNS packet with names as given. A repeated name is compressed.
struct PlayedPacket {
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

    mutating func add(
        _ owner: String, _ kind: RecordQuery.Kind, lifetime: UInt32 = 120, target: String? = nil,
        data: [UInt8] = [1, 2, 3, 4], isAlias: Bool = false
    ) {
        records += 1
        bytes.replaceSubrange(6..<8, with: [UInt8(records >> 8), UInt8(records & 0xff)])
        name(owner)
        u16(isAlias ? 5 : Int(kind.rawValue))
        u16(1)
        u16(Int(lifetime >> 16))
        u16(Int(lifetime & 0xffff))
        let length = bytes.count
        u16(0)
        if kind == .target, target != nil { bytes += data.prefix(6) }
        if let target { name(target) } else { bytes += data }
        let count = bytes.count - length - 2
        bytes[length] = UInt8(truncatingIfNeeded: count >> 8)
        bytes[length + 1] = UInt8(truncatingIfNeeded: count)
    }

    /// Returns an announcement of an instance with all of its records.
    static func announcement(_ instance: String, service: String = "_handoff._tcp.local", lifetime: UInt32 = 120)
        -> PlayedPacket
    {
        var packet = PlayedPacket()
        packet.add(service, .instances, lifetime: lifetime, target: "\(instance).\(service)")
        packet.add("\(instance).\(service)", .text, lifetime: lifetime)
        packet.add("\(instance).\(service)", .target, lifetime: lifetime)
        packet.add("host-of-\(instance).local", .ipv4, lifetime: lifetime)
        return packet
    }

    /// Returns the given records of an instance: its text, a host with a port, addresses of that
    /// host.
    static func records(
        _ instance: String, text: String? = nil, host: String? = nil, port: UInt16 = 80, addresses: [String] = [],
        lifetime: UInt32 = 120
    ) throws -> PlayedPacket {
        let name = "\(instance)._handoff._tcp.local"
        var packet = PlayedPacket()
        // Addresses precede their host, since any order is allowed.
        for text in addresses {
            let address = try Fixture.ip(text)
            packet.add(
                "\(host ?? "host").local", address.isIPv4 ? .ipv4 : .ipv6, lifetime: lifetime, data: address.bytes)
        }
        if let text { packet.add(name, .text, data: [UInt8(text.utf8.count)] + text.utf8) }
        if let host {
            let data = [0, 0, 0, 0, UInt8(port >> 8), UInt8(port & 0xff)]
            packet.add(name, .target, target: "\(host).local", data: data)
        }
        return packet
    }
}
