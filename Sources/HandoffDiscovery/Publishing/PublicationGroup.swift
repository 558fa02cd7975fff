package import LoopIO

/// The contents of one Avahi entry group. A change requires a new group: a group that is reset and
/// committed again waits a second, and after some commits twenty, but a new group does not wait.
package enum PublicationGroup: Hashable, Sendable {
    /// The PTR, SRV and TXT records of the instance, on one interface or, for nil, on all.
    case service(instance: String, host: String, port: UInt16, interface: UInt32?)
    /// One address of the host name, on the interface that has it. On other interfaces, a
    /// link-local address would be wrong.
    case address(host: String, LocalAddress)

    /// The time for which a label, and the instance name with it, is used, in seconds: a random time
    /// of this range, so that an observer of the link cannot match a new label to an old one by the
    /// time.
    package static let labelLifetime: ClosedRange<UInt32> = 900...1200
    /// The lifetime of PTR and TXT records in seconds, at most that of the instance name. It limits
    /// how long other devices keep the records of a publisher that was killed and sent no goodbye.
    static let instanceLifetime = labelLifetime.lowerBound
    /// The lifetime of SRV and address records in seconds (RFC 6762 section 10).
    static let hostLifetime: UInt32 = 120

    /// The index of the interface, or nil for all.
    package var interface: UInt32? {
        switch self {
        case .service(_, _, _, let interface): interface
        case .address(_, let address): address.interface
        }
    }

    /// Returns the records. The service's TXT record gets `text`, which is in wire form.
    func records(serviceName: DomainName, text: [UInt8]) -> [PublishedRecord] {
        switch self {
        case .address(let host, let local):
            return [.address(host: "\(host).local", local.address)]
        case .service(let instance, let host, let port, _):
            guard let name = DomainName("\(instance).\(serviceName.text)"), let host = DomainName("\(host).local")
            else {
                return []
            }
            let target = ServiceTarget(host: host, port: port)
            return [
                .raw(
                    name: serviceName.text, kind: .instances, lifetime: PublicationGroup.instanceLifetime,
                    data: name.wire, isShared: true),
                .raw(
                    name: name.text, kind: .target, lifetime: PublicationGroup.hostLifetime, data: target.data,
                    isShared: false),
                PublicationGroup.textRecord(name: name, text: text),
            ]
        }
    }

    static func textRecord(name: DomainName, text: [UInt8]) -> PublishedRecord {
        .raw(name: name.text, kind: .text, lifetime: instanceLifetime, data: text, isShared: false)
    }
}

package enum PublishedRecord: Hashable, Sendable {
    /// A record of any type; `data` is in wire form.
    case raw(name: String, kind: RecordQuery.Kind, lifetime: UInt32, data: [UInt8], isShared: Bool)
    /// An A or AAAA record without a reverse record, since only one name per address can have a
    /// reverse record.
    case address(host: String, IPAddress)
}

extension PublishedRecord {
    /// True if other devices have records with the same name and type, so that these must coexist.
    package var isShared: Bool {
        switch self {
        case .raw(_, _, _, _, let isShared): isShared
        case .address: false
        }
    }
}
