import LoopIO
package import Timing

/// Which packets of multicast DNS the embedded responder reads. Plain values; time is a parameter.
///
/// It compares each record with all that it has of the same name, and takes none when its memory is full: who floods the network
/// with services could keep a processor busy and every member out of sight. So what is about something else is dropped,
/// what strangers say of our service is taken as far as a budget goes that its memory can hold, and each member has a
/// budget of its own: its name proves that it is one.
package struct PacketGate: Sendable {
    /// Records that are in the responder's memory at most, for each interface.
    package static let memory: UInt32 = 16_384

    /// For how many seconds a record may live to count as one.
    private static let span = PublicationGroup.instanceLifetime
    /// Members that have a budget each; of more the budgets begin anew.
    private static let maxMembers = 1024

    private let service: String
    private var isMember: @Sendable (String) -> Bool = { _ in false }
    /// The instances that wait for addresses, by the name of the host that has them.
    private var hosts: [String: String] = [:]
    private var questions = RateLimit(perSecond: 100, burst: 200)
    /// In records that live as long as ours; one that lives longer counts as several. A network of 1,000 devices at once, which stay.
    /// The burst, and what lives of the full rate, leave a fifth of the memory to members.
    private var strangers = RateLimit(perSecond: 10, burst: 4096)
    private var members: [String: RateLimit] = [:]

    /// - Parameter serviceType: two labels, `_handoff._tcp`.
    package init(serviceType: String) {
        service = serviceType + ".local"
    }

    /// Takes what tells a member's instance from others.
    package mutating func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        self.isMember = isMember
        members = [:]
    }

    /// An instance's addresses are asked for, under the name of its host.
    package mutating func expect(host: String, of instance: String) { hosts[host.lowercased()] = instance }

    /// They are asked for no more.
    package mutating func forget(host: String) { hosts[host.lowercased()] = nil }

    /// Whether the responder is to read a packet; counts it.
    package mutating func admits(_ bytes: UnsafeRawBufferPointer, at now: MonotonicInstant) -> Bool {
        MulticastPacket(bytes).map { admits($0, at: now) } ?? false
    }

    /// The same for a packet that was taken apart.
    package mutating func admits(_ packet: MulticastPacket, at now: MonotonicInstant) -> Bool {
        guard packet.isResponse else { return questions.admit(at: now) }
        // libavahi-core 0.8 follows aliases without a limit, and asserts that no two of them lead to one name.
        guard !packet.hasAlias else { return false }
        let instances = packet.records.compactMap(instance)
        guard !instances.isEmpty else { return false }
        // In floating point, since a lifetime is any number.
        let cost = packet.records.reduce(0.0) { $0 + max(1, Double($1.lifetime) / Double(Self.span)) }
        guard let member = instances.first(where: isMember) else { return strangers.admit(weight: cost, at: now) }
        if members.count >= Self.maxMembers, members[member] == nil { members = [:] }
        return members[member, default: RateLimit(perSecond: 64, burst: 512)].admit(weight: cost, at: now)
    }

    /// The instance that a record is about; nil when it is about something else.
    private func instance(_ record: MulticastPacket.Record) -> String? {
        guard let owner = record.owner else { return nil }
        if owner == service { return record.target.flatMap { firstLabel(of: $0) } ?? "" }
        return hosts[owner] ?? firstLabel(of: owner)
    }

    /// The instance in the name of a service of ours.
    private func firstLabel(of name: String) -> String? {
        guard name.utf8.count > service.utf8.count + 1, name.hasSuffix("." + service) else { return nil }
        return String(name.dropLast(service.utf8.count + 1))
    }
}
