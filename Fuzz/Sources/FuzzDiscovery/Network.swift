import FuzzSupport
import HandoffDiscovery
import LoopIO

/// A directory, and a network on which any host announces anything in any order. It drives the
/// directory as the driver does: reports, then `settle`, then the wanted queries.
enum Network {
    /// Steps of a few bytes. Invariants: listeners know exactly the state that the directory
    /// reported. Every report is based on links that count. Queries and memory are bounded. After
    /// all records are removed, nothing remains.
    static func play(_ input: inout Input) {
        let choice = input.byte()
        let options = DiscoveryOptions(
            interfaces: choice & 1 == 0 ? [] : ["eth0"], useIPv4: choice & 2 == 0, useIPv6: choice & 4 == 0)
        var run = Run(options)
        // A few hundred steps can find everything. More only take longer.
        for _ in 0..<300 where !input.isEmpty { run.step(&input) }
        run.end()
    }

    private struct Run {
        private let options: DiscoveryOptions
        private var directory: ServiceDirectory
        private var interfaces = InterfaceTable()
        private var wanted: Set<RecordQuery> = []
        private var announced: [String: DiscoveredService] = [:]

        init(_ options: DiscoveryOptions) {
            self.options = options
            directory = ServiceDirectory(options: options)
            interfaces.apply(.link(index: 1, name: "lo", flags: 0x49))
            interfaces.apply(.link(index: 2, name: "eth0", flags: 0x41))
            interfaces.apply(.link(index: 3, name: "wlan0", flags: 0x41))
            if let own = IPAddress(bytes: [10, 0, 0, 1]) {
                interfaces.apply(.address(LocalAddress(interface: 2, address: own, prefixLength: 24), flags: 0))
            }
            directory.setInterfaces(interfaces)
            directory.setMembership { $0.utf8.first == UInt8(ascii: "m") }
            settle()
        }

        mutating func step(_ input: inout Input) {
            let step = input.byte()
            let choice = input.byte()
            let link = RecordLink(interface: 1 + UInt32(choice & 3), isIPv6: choice & 4 != 0)
            switch step & 15 {
            case 0, 1, 2:
                for query in instanceQueries {
                    guard let data = Self.pointer(Self.name(choice >> 3, step)) else { return }
                    step & 15 < 2
                        ? directory.appeared(query, on: link, data: data)
                        : directory.vanished(query, on: link, data: data)
                }
            case 3...8:
                guard let query = query(step >> 4, &input) else { return }
                let data = data(query, choice >> 3, &input)
                step & 15 < 7
                    ? directory.appeared(query, on: link, data: data) : directory.vanished(query, on: link, data: data)
            case 9: if let query = query(step >> 4, &input) { directory.allForNow(query) }
            case 10: flood(choice, isMember: step >> 4 & 1 == 1, on: link)
            case 11: step >> 4 < 8 ? directory.rotate() : directory.sweep()
            case 12: if step >> 4 == 0 { directory.libraryLost() }
            case 13:
                interfaces.apply(
                    .link(
                        index: link.interface, name: ["lo", "eth0", "wlan0", "tun0"][Int(choice & 3)],
                        flags: (choice & 8 == 0 ? 0x41 : 0) | (choice & 3 == 0 ? 8 : 0)))
                directory.setInterfaces(interfaces)
            case 14: directory.refresh(Self.name(choice >> 3, step))
            default:
                let name = Self.name(choice >> 3, step)
                directory.setOwnInstance(name)
            }
            // The driver settles after every batch of reports.
            if choice & 0x80 == 0 { settle() }
        }

        /// All records are removed. Listeners are notified.
        mutating func end() {
            directory.libraryLost()
            directory.sweep()
            settle()
            require(announced.isEmpty, "an instance remains without a record")
            require(!directory.isCrowded, "removed instances are kept")
            require(wanted.isSubset(of: instanceQueries), "queries run for removed instances")
        }

        private var instanceQueries: [RecordQuery] { wanted.filter { $0.kind == .instances } }

        /// Members `m0` to `m15`, and unknown devices.
        private static func name(_ number: UInt8, _ step: UInt8) -> String {
            number < 16 ? "m\(number)" : "s\(number)-\(step >> 6)"
        }

        private static func pointer(_ name: String) -> [UInt8]? { DomainName("\(name)._handoff._tcp.local")?.wire }

        /// A query that runs for an instance, or one that was just stopped.
        private func query(_ choice: UInt8, _ input: inout Input) -> RecordQuery? {
            let kinds: [RecordQuery.Kind] = [.text, .target, .ipv4, .ipv6]
            let number = input.byte()
            let kind = kinds[Int(choice & 3)]
            let name = number < 0x80 ? Self.name(number & 31, choice << 4) : "f\(number & 7)"
            guard let query = wanted.first(where: { $0.kind == kind && $0.instance == name }) else { return nil }
            guard choice & 12 == 12 else { return query }
            return RecordQuery(
                kind: query.kind, name: query.name, instance: query.instance, round: query.round &- 1,
                interface: query.interface)
        }

        /// The data of a record of that kind: valid, or any bytes.
        private func data(_ query: RecordQuery, _ choice: UInt8, _ input: inout Input) -> [UInt8] {
            if choice == 31 { return input.bytes(Int(input.byte())) }
            switch query.kind {
            case .instances: return []
            case .text: return TextData.encode([[choice]]) ?? []
            case .target: return Self.target(choice)
            case .ipv4: return [choice & 1 == 0 ? 10 : 8, 0, 0, choice]
            case .ipv6: return [choice & 1 == 0 ? 0xfe : 0x20, 0x80] + [UInt8](repeating: 0, count: 13) + [choice]
            }
        }

        /// Many instances at once, as from a host that wants to use up all places.
        private mutating func flood(_ choice: UInt8, isMember: Bool, on link: RecordLink) {
            let all = isMember ? Self.members : Self.strangers
            for query in instanceQueries {
                for data in all.prefix([8, 40, 90, all.count][Int(choice >> 3 & 3)]) {
                    directory.appeared(query, on: link, data: data)
                }
            }
        }

        private static let members = (0..<100).compactMap { pointer("m\($0)") }
        private static let strangers = (0..<600).compactMap { pointer("f\($0)") }

        private mutating func settle() {
            for event in directory.settle() {
                switch event {
                case .service(let service): check(service)
                case .removed(let name):
                    require(announced.removeValue(forKey: name) != nil, "an unknown instance is removed")
                case .allForNow, .state, .conflict, .networkChanged: break
                }
            }
            wanted = directory.takeWanted() ?? wanted
            require(directory.settle().isEmpty && directory.takeWanted() == nil, "there are changes without a report")
            require(announced.count <= ServiceDirectory.maxInstances, "more instances are reported than kept")
            // On each interface: one query for all, a text for each, and the rest for those that are being resolved.
            let most = 1 + ServiceDirectory.maxInstances + 3 * ServiceDirectory.maxResolving
            require(wanted.count <= most, "too many queries run")
            require(Set(wanted.map(\.interface)).count <= 1, "queries run on two interfaces although one is configured")
        }

        private mutating func check(_ service: DiscoveredService) {
            announced[service.instance] = service
            require(DomainName.label(service.instance) == service.instance, "an instance has an invalid name")
            require(service.text != nil || service.port != nil, "an instance without data is reported")
            require(service.addresses.isEmpty || service.port != nil, "an instance has addresses without a port")
            require(service.addresses.count <= ServiceDirectory.maxAddresses, "too many addresses are reported")
            require(Set(service.addresses).count == service.addresses.count, "an address is reported twice")
            for address in service.addresses {
                require(address.port == service.port, "an address has another port")
                let isAccepted = (1...4).contains { index in
                    interfaces.accepts(address.address.withScope(0), on: index)
                        && options.accepts(interface: interfaces.name(of: index) ?? "lo")
                }
                require(isAccepted, "an address is reported that no link may report")
            }
        }

        /// The data of SRV records: four hosts, two ports.
        private static func target(_ choice: UInt8) -> [UInt8] {
            DomainName("h\(choice & 3).local").map { ServiceTarget(host: $0, port: 80 + UInt16(choice >> 2 & 1)).data }
                ?? []
        }
    }
}
