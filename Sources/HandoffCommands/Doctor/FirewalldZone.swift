/// A zone of firewalld that is asked about what comes in by an interface in use, as far as files tell. What NetworkManager binds
/// to a zone is in no file that everybody may read.
struct FirewalldZone: Equatable {
    /// Its name; nil for the default one when that has no usable name.
    let name: String?
    /// Whether it is for all interfaces that are bound to no other.
    let isDefault: Bool
    /// Whether it lets a port and multicast DNS in; nil when that cannot be told.
    let isOpen: Bool?

    /// For people.
    var title: String {
        name.map { "firewalld (\(isDefault ? "default zone" : "zone") \($0))" } ?? "firewalld"
    }

    /// The option of firewall-cmd(1) that means this zone, behind a blank; empty for the default one.
    var option: String { isDefault ? "" : name.map { " --zone=\($0)" } ?? "" }

    /// The zone on which it hangs whether all of some ports are let in: one that does not let one in, or one of which it cannot be
    /// told, or else the first.
    /// - Parameter ports: at least one.
    static func deciding(on ports: [UInt16], _ machine: MachineFacts) -> FirewalldZone {
        let zones = ports.flatMap { inUse($0, machine) }
        return zones.first { $0.isOpen == false } ?? zones.first { $0.isOpen == nil } ?? zones[0]
    }

    /// The zones that are asked, the default one first; never empty.
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
            // Where interfaces are not known, any that is named may be in use.
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
