import HandoffDiscovery
import LoopIO
import Testing

struct MergedServicesTests {
    private static let address = SocketAddress(.loopbackIPv4, port: 80)

    @Test func `removes when nobody knows it any more`() {
        var services = MergedServices()
        _ = services.add(DiscoveredService(instance: "a"), from: .avahi)
        _ = services.add(DiscoveredService(instance: "a"), from: .embedded)
        let removals = [
            services.remove("a", from: .avahi), services.remove("a", from: .avahi),
            services.remove("a", from: .embedded), services.remove("a", from: .embedded),
        ]
        #expect(removals == [false, false, true, false])
    }

    @Test func `drops only what one alone knew`() {
        var services = MergedServices()
        for instance in ["c", "a", "b"] { _ = services.add(DiscoveredService(instance: instance), from: .embedded) }
        _ = services.add(DiscoveredService(instance: "b"), from: .avahi)
        let dropped = [services.drop(.embedded), services.drop(.embedded), services.drop(.avahi)]
        #expect(dropped == [["a", "c"], [], ["b"]])
    }

    @Test func `fills in what the new source does not know yet`() {
        var services = MergedServices()
        let whole = DiscoveredService(instance: "a", text: [[1]], port: 80, addresses: [Self.address])
        let told = [
            services.add(whole, from: .embedded),
            services.add(DiscoveredService(instance: "a", text: [[2]]), from: .avahi),
            services.add(DiscoveredService(instance: "a", text: [[2]], port: 81), from: .avahi),
            services.add(
                DiscoveredService(instance: "a", text: [[2]], port: 81, addresses: [Self.address.withPort(81)]),
                from: .avahi),
        ]
        #expect(
            told == [
                whole, DiscoveredService(instance: "a", text: [[2]], port: 80, addresses: [Self.address]),
                DiscoveredService(instance: "a", text: [[2]], port: 80, addresses: [Self.address]),
                DiscoveredService(instance: "a", text: [[2]], port: 81, addresses: [Self.address.withPort(81)]),
            ])
    }

    @Test func `fills in nothing of an implementation that is not used any more`() {
        var services = MergedServices()
        _ = services.add(DiscoveredService(instance: "a", text: [[1]]), from: .embedded)
        _ = services.add(DiscoveredService(instance: "a"), from: .avahi)
        _ = services.drop(.embedded)
        let told = services.add(DiscoveredService(instance: "a"), from: .avahi)
        #expect(told == DiscoveredService(instance: "a"))
    }
}
