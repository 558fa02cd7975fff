import HandoffModel
import LoopIO
import Testing

@testable import HandoffDiscovery

struct PresentNetworksTests {
    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text: text)) }

    @Test func `a network is a default route with the address of its gateway`() throws {
        let hardware = try #require(HardwareAddress("52:54:00:00:00:01"))
        var table = NetworkTable()
        table.apply(.link(index: 2, name: "eth0", flags: 0x41))
        table.apply(.link(index: 3, name: "wlan0", flags: 0x1))
        for _ in 0..<2 { table.apply(.gateway(try address("192.0.2.1"), interface: 2)) }
        table.apply(.gateway(try address("192.0.2.1"), interface: 3))
        table.apply(.gateway(try address("fe80::1"), interface: 2))
        table.apply(.neighbour(try address("192.0.2.1"), hardware, interface: 2))
        table.apply(.neighbour(try address("192.0.2.9"), hardware, interface: 2))
        #expect(
            table.present == [
                PresentNetwork(interface: "eth0", gateway: try address("192.0.2.1"), hardware: hardware),
                PresentNetwork(interface: "eth0", gateway: try address("fe80::1"), hardware: nil),
            ], "an interface that is down has no network")
    }

    /// A message of a neighbour of interface 5, as the kernel sends it.
    private func neighbour(_ address: [UInt8], _ hardware: [UInt8]) -> [UInt8] {
        typealias Netlink = NetlinkDecoderTests
        return Netlink.message(
            28,
            [2, 0, 0, 0] + Netlink.bytes(UInt32(5)) + Netlink.bytes(UInt16(2)) + [0, 1]
                + Netlink.attribute(1, address) + Netlink.attribute(2, hardware))
    }

    @Test func `a gateway is resolved among any number of neighbours, and its last hardware address counts`() throws {
        typealias Netlink = NetlinkDecoderTests
        var datagrams = [Netlink.link(16)]
        datagrams.append(
            Netlink.message(
                24,
                [2, 0, 0, 0, 254, 3, 0, 1] + Netlink.bytes(UInt32(0)) + Netlink.attribute(4, Netlink.bytes(UInt32(5)))
                    + Netlink.attribute(5, [10, 0, 255, 1])))
        for number in 0..<5000 {
            datagrams.append(neighbour([10, 0, UInt8(number / 256), UInt8(number % 256)], [2, 0, 0, 0, 0, 1]))
        }
        for last in [UInt8(8), 9] { datagrams.append(neighbour([10, 0, 255, 1], [2, 0, 0, 0, 0, last])) }
        var table = NetworkTable()
        for datagram in datagrams { NetlinkDecoder.decode(datagram[...]).forEach { table.apply($0) } }
        #expect(
            table.present == [
                PresentNetwork(
                    interface: "eth0", gateway: try address("10.0.255.1"),
                    hardware: HardwareAddress("02:00:00:00:00:09"))
            ])
    }

    @Test func `the kernel's tables can be read`() throws {
        _ = try NetworkTable.current()
        #expect(try !InterfaceTable.current().usable.isEmpty)
    }
}

/// A discovery that records its calls.
private final class RecordingDiscovery: Discovery {
    struct State {
        var notes: [String] = []
        var onEvent: (@Sendable (DiscoveryEvent) -> Void)?
    }

    let kind = DiscoveryKind.embedded
    let state = Locked(State())

    var notes: [String] { state.withLock { $0.notes } }

    func send(_ event: DiscoveryEvent) { state.withLock { $0.onEvent }?(event) }

    private func note(_ text: String) { state.withLock { $0.notes.append(text) } }

    func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        state.withLock { $0.onEvent = onEvent }
        note("start")
    }
    func publish(_ publication: Publication?) { note("publish \(publication?.instance ?? "nothing")") }
    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) { note("membership") }
    func refresh(instance: String) { note("refresh \(instance)") }
    func stop(_ done: @escaping @Sendable () -> Void) {
        note("stop")
        done()
    }
}

struct LimitedDiscoveryTests {
    @Test func `a discovery on other interfaces continues the earlier requests`() {
        let created = Locked<[(interfaces: [String]?, discovery: RecordingDiscovery)]>([])
        let limited = LimitedDiscovery { interfaces in
            let discovery = RecordingDiscovery()
            created.withLock { $0.append((interfaces, discovery)) }
            return discovery
        }
        func inner(_ index: Int) -> RecordingDiscovery { created.withLock { $0[index].discovery } }
        let events = Locked<[DiscoveryEvent]>([])
        limited.start { event in events.withLock { $0.append(event) } }
        limited.setMembership { _ in true }
        limited.publish(Publication(instance: "a", host: "h", port: 1, text: []))
        #expect(inner(0).notes == ["start", "membership", "publish a"])
        let found = DiscoveryEvent.service(DiscoveredService(instance: "b"))
        inner(0).send(found)

        limited.limit(to: [])
        #expect(limited.kind == .none)
        #expect(inner(0).notes.last == "stop")
        #expect(events.withLock { $0 } == [found, .removed(instance: "b")])
        inner(0).send(found)
        #expect(events.withLock { $0.count } == 2, "events of a former discovery are ignored")
        limited.publish(Publication(instance: "c", host: "h", port: 1, text: []))
        limited.refresh(instance: "x")

        limited.limit(to: ["eth0"])
        limited.limit(to: ["eth0"])
        #expect(created.withLock { $0.map(\.interfaces) } == [nil, ["eth0"]])
        #expect(inner(1).notes == ["membership", "publish c", "start"])
        inner(1).send(found)
        #expect(events.withLock { $0.count } == 3)
        limited.limit(to: nil)
        #expect(inner(1).notes.last == "stop" && limited.kind == .embedded)
    }
}
