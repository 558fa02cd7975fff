package import HandoffModel
import LoopIO

/// Decides which multicast DNS packets the embedded responder reads. A plain value; time is a
/// parameter.
///
/// The responder compares each record with all cached records of the same name, and caches no more
/// once its cache is full. A device that floods the network with services could therefore keep a
/// processor busy and hide every member. To prevent that, packets about other services are dropped,
/// packets of unknown devices about this service are limited to a budget that fits in the cache,
/// and each member has its own budget: its instance name proves its membership.
package struct PacketGate: Sendable {
    /// The maximum number of records in the responder's cache, for each interface.
    package static let memory: UInt32 = 16_384

    /// The lifetime in seconds up to which a record counts as one.
    private static let referenceLifetime = PublicationGroup.instanceLifetime
    /// The maximum number of members with a budget. When there are more, all budgets start again.
    private static let maxMembers = 1024

    private let service: String
    private var isMember: @Sendable (String) -> Bool = { _ in false }
    /// The instances whose addresses are queried, by the name of their host.
    private var hosts: [String: String] = [:]
    private var questions = RateLimit(perSecond: 100, burst: 200)
    /// The budget of unknown devices, in records with this project's lifetime. A record that lives
    /// longer counts as several. It allows for a network of 1,000 devices that arrive at the same
    /// time and stay. The burst, and the records still alive at the full rate, leave a fifth of the
    /// cache to members.
    private var unknownDevices = RateLimit(perSecond: 10, burst: 4096)
    private var members: [String: RateLimit] = [:]

    /// - Parameter serviceType: Two labels, `_handoff._tcp`.
    package init(serviceType: String) {
        service = serviceType + ".local"
    }

    /// Sets the predicate that recognises members' instance names.
    package mutating func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        self.isMember = isMember
        members = [:]
    }

    /// Records that the addresses of an instance are queried under its host name.
    package mutating func expect(host: String, of instance: String) { hosts[host.lowercased()] = instance }

    /// Records that the addresses of a host are no longer queried.
    package mutating func forget(host: String) { hosts[host.lowercased()] = nil }

    /// Counts a packet and returns whether the responder should read it.
    package mutating func admits(_ bytes: UnsafeRawBufferPointer, at now: MonotonicInstant) -> Bool {
        MulticastPacket(bytes).map { admits($0, at: now) } ?? false
    }

    /// Counts a parsed packet and returns whether the responder should read it.
    package mutating func admits(_ packet: MulticastPacket, at now: MonotonicInstant) -> Bool {
        guard packet.isResponse else { return questions.admit(at: now) }
        // libavahi-core 0.8 follows aliases without a limit and asserts that no two of them lead to
        // the same name.
        guard !packet.hasAlias else { return false }
        let instances = packet.records.compactMap(instance)
        guard !instances.isEmpty else { return false }
        // Floating point, because the lifetime can be any number.
        let cost = packet.records.reduce(0.0) { $0 + max(1, Double($1.lifetime) / Double(Self.referenceLifetime)) }
        guard let member = instances.first(where: isMember) else { return unknownDevices.admit(weight: cost, at: now) }
        if members.count >= Self.maxMembers, members[member] == nil { members = [:] }
        return members[member, default: RateLimit(perSecond: 64, burst: 512)].admit(weight: cost, at: now)
    }

    /// Returns the instance of a record, or nil if the record is unrelated.
    private func instance(_ record: MulticastPacket.Record) -> String? {
        guard let owner = record.owner else { return nil }
        if owner == service { return record.target.flatMap { firstLabel(of: $0) } ?? "" }
        return hosts[owner] ?? firstLabel(of: owner)
    }

    /// Returns the instance in a name of this service.
    private func firstLabel(of name: String) -> String? {
        guard name.utf8.count > service.utf8.count + 1, name.hasSuffix("." + service) else { return nil }
        return String(name.dropLast(service.utf8.count + 1))
    }
}
