import HandoffDiscovery
import LoopIO
import Testing

struct MergedServicesTests {
    private static let address = SocketAddress(.loopbackIPv4, port: 80)

    @Test func `removes a service when no source knows it any more`() {
        var services = MergedServices()
        _ = services.add(DiscoveredService(instance: "a"), from: .avahi)
        _ = services.add(DiscoveredService(instance: "a"), from: .embedded)
        let removals = [
            services.remove("a", from: .avahi), services.remove("a", from: .avahi),
            services.remove("a", from: .embedded), services.remove("a", from: .embedded),
        ]
        #expect(removals == [false, false, true, false])
    }

    @Test func `drops only services that no other source knows`() {
        var services = MergedServices()
        for instance in ["c", "a", "b"] { _ = services.add(DiscoveredService(instance: instance), from: .embedded) }
        _ = services.add(DiscoveredService(instance: "b"), from: .avahi)
        let dropped = [services.drop(.embedded), services.drop(.embedded), services.drop(.avahi)]
        #expect(dropped == [["a", "c"], [], ["b"]])
    }

    @Test func `adds information that the new source lacks`() {
        var services = MergedServices()
        let whole = DiscoveredService(instance: "a", text: [[1]], port: 80, addresses: [Self.address])
        let merged = [
            services.add(whole, from: .embedded),
            services.add(DiscoveredService(instance: "a", text: [[2]]), from: .avahi),
            services.add(DiscoveredService(instance: "a", text: [[2]], port: 81), from: .avahi),
            services.add(
                DiscoveredService(instance: "a", text: [[2]], port: 81, addresses: [Self.address.withPort(81)]),
                from: .avahi),
        ]
        #expect(
            merged == [
                whole, DiscoveredService(instance: "a", text: [[2]], port: 80, addresses: [Self.address]),
                DiscoveredService(instance: "a", text: [[2]], port: 80, addresses: [Self.address]),
                DiscoveredService(instance: "a", text: [[2]], port: 81, addresses: [Self.address.withPort(81)]),
            ])
    }

    @Test func `adds no information from a dropped source`() {
        var services = MergedServices()
        _ = services.add(DiscoveredService(instance: "a", text: [[1]]), from: .embedded)
        _ = services.add(DiscoveredService(instance: "a"), from: .avahi)
        _ = services.drop(.embedded)
        let merged = services.add(DiscoveredService(instance: "a"), from: .avahi)
        #expect(merged == DiscoveredService(instance: "a"))
    }
}
