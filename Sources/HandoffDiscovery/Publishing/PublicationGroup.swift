package import LoopIO

/// What one entry group of Avahi holds. A change of it makes another group, for a group that is reset and committed
/// again waits a second and after some commits twenty; a new one waits for nothing.
package enum PublicationGroup: Hashable, Sendable {
    /// PTR, SRV and TXT of the instance, on one interface or (nil) on all.
    case service(instance: String, host: String, port: UInt16, interface: UInt32?)
    /// One address of the host name, on the interface that has it: elsewhere a link-local one would be wrong.
    case address(host: String, LocalAddress)

    /// The lifetime of PTR and TXT records in seconds, at most the time that an instance lives: a publisher that was
    /// killed sends no goodbye, and others keep the records for so long.
    package static let instanceLifetime: UInt32 = 900
    /// The lifetime of SRV and address records in seconds (RFC 6762 section 10).
    package static let hostLifetime: UInt32 = 120

    /// The interface's index, or nil for all.
    package var interface: UInt32? {
        switch self {
        case .service(_, _, _, let interface): interface
        case .address(_, let address): address.interface
        }
    }

    /// The records, for the service with that text in wire form.
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

    /// The TXT record of an instance.
    static func textRecord(name: DomainName, text: [UInt8]) -> PublishedRecord {
        .raw(name: name.text, kind: .text, lifetime: instanceLifetime, data: text, isShared: false)
    }
}

/// One record to publish.
package enum PublishedRecord: Hashable, Sendable {
    /// Any record; `data` is in wire form.
    case raw(name: String, kind: RecordQuery.Kind, lifetime: UInt32, data: [UInt8], isShared: Bool)
    /// An A or AAAA record without a reverse one, since only one name per address can have that.
    case address(host: String, IPAddress)
}

extension PublishedRecord {
    /// Whether other devices have records of the same name and kind, so that they may be there side by side.
    package var isShared: Bool {
        switch self {
        case .raw(_, _, _, _, let isShared): isShared
        case .address: false
        }
    }
}
