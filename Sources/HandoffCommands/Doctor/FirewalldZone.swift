/// A zone of firewalld that applies to an interface in use, as far as configuration files show.
/// NetworkManager's assignments of zones are not in a world-readable file.
struct FirewalldZone: Equatable {
    /// The zone's name; nil for the default zone if its name is not usable.
    let name: String?
    /// True for the zone of all interfaces that are not bound to another one.
    let isDefault: Bool
    /// True if the zone allows a port and multicast DNS; nil if unknown.
    let isOpen: Bool?

    /// The zone's name in messages.
    var title: String {
        name.map { "firewalld (\(isDefault ? "default zone" : "zone") \($0))" } ?? "firewalld"
    }

    /// The option of firewall-cmd(1) for this zone, with a leading space; empty for the default
    /// zone.
    var option: String { isDefault ? "" : name.map { " --zone=\($0)" } ?? "" }

    /// Returns the zone that decides whether all of some ports are open: the first that blocks one,
    /// else the first that is unknown, else the first.
    /// - Parameter ports: at least one.
    static func deciding(on ports: [UInt16], _ machine: MachineFacts) -> FirewalldZone {
        let zones = ports.flatMap { inUse($0, machine) }
        return zones.first { $0.isOpen == false } ?? zones.first { $0.isOpen == nil } ?? zones[0]
    }

    /// Returns the zones that apply, with the default zone first; never empty.
    private static func inUse(_ port: UInt16, _ machine: MachineFacts) -> [FirewalldZone] {
        let name = FirewallText.firewalldDefaultZone(machine.firewalld.content ?? "")
        let isKnown = machine.firewalld != .unreadable && machine.firewalldZones != nil
        let isOpen = machine.firewalldZone.content.map { FirewallText.firewalldAllows(port, $0) }
        let usual = FirewalldZone(name: name, isDefault: true, isOpen: isKnown ? isOpen : nil)
        let interfaces = MachineInterfaces.inUse(machine)
        var unbound = interfaces
        var bound: [FirewalldZone] = []
        let others = (machine.firewalldZones ?? [:]).filter { $0.key != name }
        for (name, file) in others.sorted(by: { $0.key < $1.key }) {
            guard let text = file.content else {
                bound.append(FirewalldZone(name: name, isDefault: false, isOpen: nil))
                continue
            }
            let named = FirewallText.firewalldInterfaces(text)
            unbound?.subtract(named)
            // If the interfaces are unknown, any named one may be in use.
            let isBound = interfaces.map { !$0.isDisjoint(with: named) } ?? !named.isEmpty
            guard isBound || FirewallText.firewalldHasSources(text) else { continue }
            let isOpen = FirewallText.firewalldAllows(port, text)
            let isCertain = isOpen || isBound && interfaces != nil
            bound.append(FirewalldZone(name: name, isDefault: false, isOpen: isCertain ? isOpen : nil))
        }
        let hasUnbound = unbound.map { !$0.isEmpty } ?? true
        return hasUnbound || bound.isEmpty ? [usual] + bound : bound
    }
}
