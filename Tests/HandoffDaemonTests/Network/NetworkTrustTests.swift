import HandoffModel
import HandoffState
import LoopIO
import Testing

@testable import HandoffDaemon
@testable import HandoffDiscovery

struct NetworkTrustTests {
    private let home: HardwareAddress
    private let cafe: HardwareAddress

    init() throws {
        home = try #require(HardwareAddress("52:54:00:00:00:01"))
        cafe = try #require(HardwareAddress("52:54:00:00:00:02"))
    }

    private func trust(
        policy: NetworkPolicy = .known, interfaces: [String] = [], _ present: (String, HardwareAddress?)...
    ) throws -> NetworkTrust {
        var known = NetworksFile()
        known.add(home, name: "Home")
        var trust = NetworkTrust(policy: policy, interfaces: interfaces, known: known)
        let gateway = try #require(IPAddress(text: "192.0.2.1"))
        trust.present = present.map { PresentNetwork(interface: $0, gateway: gateway, hardware: $1) }
        return trust
    }

    @Test func `without the known policy, all networks are equal`() throws {
        #expect(try trust(policy: .all, ("eth0", cafe)).limit == nil)
        #expect(try trust(policy: .all, ("eth0", cafe)).restriction == nil)
        #expect(try trust(policy: .all).restriction == nil)
    }

    @Test func `a device can be discovered on the interfaces of known networks`() throws {
        #expect(try trust(("eth0", home), ("wlan0", cafe)).limit == ["eth0"])
        #expect(try trust(("eth0", home), ("wlan0", cafe)).restriction == nil)
        // One network on both.
        #expect(try trust(("eth0", home), ("wlan0", home)).limit == ["eth0", "wlan0"])
        // A second gateway, which any host on the link can announce, does not make a known network
        // unknown.
        #expect(try trust(("eth0", home), ("eth0", cafe)).limit == ["eth0"])
    }

    @Test func `without a known network the device cannot be discovered, and the reason names the gateway`() throws {
        let unknown = try trust(("wlan0", cafe))
        #expect(unknown.limit == [])
        #expect(unknown.restriction == "this network is not known (wlan0, gateway 192.0.2.1)")
        #expect(try trust(("wlan0", nil)).limit == [], "a gateway that has not answered yet is not known")
        #expect(try trust().limit == [])
        #expect(try trust().restriction?.hasPrefix("this device is in no network") ?? false)
    }

    @Test(
        arguments: [
            "00:00:5e:00:01:01", "00:00:5E:00:02:ff", "00:00:0c:07:ac:00", "00:00:0c:9f:f0:01", "00:05:73:a0:00:01",
            "00:07:b4:00:01:01",
        ])
    func `a network with the address of a virtual router is not known, even if it was stored`(_ text: String) throws {
        let router = try #require(HardwareAddress(text))
        #expect(router.isVirtualRouter)
        var trust = try trust(("wlan0", router))
        trust.known.add(router, name: "Office")
        #expect(trust.limit == [])
        #expect(trust.restriction?.contains("virtual router") == true)
        #expect(!home.isVirtualRouter)
        let neighbour = try #require(HardwareAddress("00:00:0c:9f:e0:01"))
        #expect(!neighbour.isVirtualRouter)
    }

    @Test func `configured interfaces remain the only ones`() throws {
        #expect(try trust(interfaces: ["wlan0"], ("eth0", home), ("wlan0", cafe)).limit == [])
        #expect(try trust(interfaces: ["wlan0"], ("eth0", home), ("wlan0", home)).limit == ["wlan0"])
        #expect(try trust(interfaces: ["lo", "wlan0"], ("wlan0", cafe)).limit == ["lo"])
        #expect(try trust(interfaces: ["lo"], ("wlan0", cafe)).limit == nil, "loopback alone is not a network")
    }
}
