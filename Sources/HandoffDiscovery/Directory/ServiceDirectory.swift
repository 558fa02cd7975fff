import LoopIO

/// The instances on the network, with the records to query and their contents. A state machine of
/// plain values: Avahi's reports go in, wanted queries and events come out. It performs no I/O. See
/// `docs/state-machines/discovery.md`.
///
/// All its input is untrusted. It keeps at most `maxInstances` names. While there are few, it
/// browses all in the same way, so that its queries do not reveal which devices belong together.
/// When there are many, it browses members first, and some unknown devices in turn. The latter
/// serve as cover traffic. They also matter because a member in another epoch appears to be
/// unknown, as does any member to a device that is joining. An unknown device waits for its turn
/// for at most `maxInstances / maxUnknown` periods.
package struct ServiceDirectory: Sendable {
    /// The maximum number of instances to keep. Each costs some kilobytes and up to four of the
    /// 1,024 objects of an Avahi client.
    package static let maxInstances = 512
    /// The maximum number of instances up to which all are browsed in the same way.
    package static let uniformLimit = 64
    /// The number of unknown devices browsed above that limit. The selection changes every
    /// `rotationPeriod`.
    package static let maxUnknown = 32
    /// The maximum number of instances whose host and addresses are queried at the same time.
    package static let maxResolving = 64
    /// The maximum number of addresses reported for an instance.
    package static let maxAddresses = 8
    /// The time for which an unknown device is browsed, and an unresolved instance keeps its place,
    /// while there are too many.
    static let rotationPeriod = Duration.seconds(10)

    let options: DiscoveryOptions
    let serviceName: DomainName
    /// True if the owner passes received packets to `heard`. A text is then queried only until it
    /// is known. Permanent queries by each of N devices for each of N instances, with a known
    /// answer of one kilobyte, would make up most of the traffic.
    let hears: Bool
    /// The suffix that follows the name of an instance in its record names.
    let instanceSuffix: String
    var interfaces = InterfaceTable()
    var instances: [String: KnownInstance] = [:]
    private var ownInstances: [String] = []
    private var isMember: @Sendable (String) -> Bool = { _ in false }
    private var browseRound: UInt32 = 0
    private var lastRound: UInt32 = 0
    private var lastTurn: UInt64 = 0
    private var hasDroppedNames = false
    private var isSelectionStale = false
    /// True if `wanted` may have changed. Computing it after every report is too expensive.
    var isWantedStale = true
    /// True if an instance may be waiting for a place to be resolved.
    private var isWaiting = false
    private var isAllForNow = false
    var changed: Set<String> = []
    private var removed: [String] = []

    /// - Parameters:
    ///   - options: The service type must have two labels; anything else is a programming error.
    ///   - hears: True if `heard` is called for all packets of the service.
    package init(options: DiscoveryOptions, hears: Bool = false) {
        self.options = options
        self.hears = hears
        self.serviceName = options.serviceName
        instanceSuffix = "." + serviceName.text
    }

    /// True while there are more instances than `uniformLimit`. `rotate` is then due every
    /// `rotationPeriod`.
    package var isCrowded: Bool { instances.count > ServiceDirectory.uniformLimit }

    // MARK: Input from the owner

    /// Sets this device's instance name. It and the previous ones are never reported.
    package mutating func setOwnInstance(_ name: String) {
        guard let name = DomainName.label(name), ownInstances.last != name else { return }
        ownInstances.append(name)
        // The previous name is still being withdrawn while the new one is announced. A few more
        // cost nothing.
        if ownInstances.count > 4 { ownInstances.removeFirst() }
        remove(name)
    }

    /// Sets the membership predicate and reevaluates all names.
    package mutating func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        self.isMember = isMember
        for name in instances.keys { instances[name]?.isMember = isMember(name) }
        isSelectionStale = true
        changed.formUnion(instances.keys)
        // A name that was dropped for lack of space may now be a member's.
        if hasDroppedNames { restartBrowsing() }
    }

    /// Sets the machine's links and addresses, which determine the records to use.
    package mutating func setInterfaces(_ table: InterfaceTable) {
        interfaces = table
        isWantedStale = true
        changed.formUnion(instances.keys)
    }

    /// Queries the host and addresses of an instance again.
    package mutating func refresh(_ name: String) {
        guard let instance = instances[name] else { return }
        // A round that still expects responses is as good as a new one.
        if case .running(_, let finished) = instance.resolution, finished.isEmpty { return }
        setResolution(name, .waiting)
        instances[name]?.receivedKinds = []
        instances[name]?.attempts = 0
    }

    // MARK: Reports from Avahi

    package mutating func appeared(_ query: RecordQuery, on link: RecordLink, data: [UInt8]) {
        switch query.kind {
        case .instances:
            guard query.round == browseRound, let name = instanceName(data) else { return }
            instanceAppeared(name, on: link)
        case .text:
            guard isCurrent(query), let strings = TextData.decode(data) else { return }
            isWantedStale = isWantedStale || hears
            instances[query.instance]?.texts.insert(strings, on: link, round: query.round)
        case .target:
            guard isCurrent(query), let target = ServiceTarget(data: data) else { return }
            instances[query.instance]?.targets.insert(target, on: link, round: query.round)
            instances[query.instance]?.addresses.keep { $0.host == target.host }
            isWantedStale = true
        case .ipv4, .ipv6:
            guard isCurrent(query), let host = DomainName(query.name), let address = IPAddress(bytes: data),
                address.isIPv4 == (query.kind == .ipv4)
            else { return }
            let value = KnownInstance.HostAddress(host: host, address: address)
            instances[query.instance]?.addresses.insert(value, on: link, round: query.round)
        }
        changed.insert(query.instance)
    }

    package mutating func vanished(_ query: RecordQuery, on link: RecordLink, data: [UInt8]) {
        switch query.kind {
        case .instances:
            guard query.round == browseRound, let name = instanceName(data), let instance = instances[name] else {
                return
            }
            instances[name]?.links.remove(link)
            if instance.links.contains(link), instance.links.count == 1 { remove(name) }
            changed.insert(name)
        case .text:
            guard isCurrent(query), let strings = TextData.decode(data) else { return }
            instances[query.instance]?.texts.removeUnlessLast(strings, on: link)
        case .target:
            guard isCurrent(query), let target = ServiceTarget(data: data) else { return }
            instances[query.instance]?.targets.removeUnlessLast(target, on: link)
            isWantedStale = true
        case .ipv4, .ipv6:
            guard isCurrent(query), let host = DomainName(query.name), let address = IPAddress(bytes: data) else {
                return
            }
            instances[query.instance]?.addresses.remove(.init(host: host, address: address), on: link)
        }
        changed.insert(query.instance)
    }

    /// Avahi has reported its cached records and expects no more responses to this query soon.
    package mutating func allForNow(_ query: RecordQuery) {
        if query.kind == .instances {
            isAllForNow = isAllForNow || query.round == browseRound
            return
        }
        guard isCurrent(query), case .running(let round, var finished) = instances[query.instance]?.resolution else {
            return
        }
        finished.insert(query.kind)
        instances[query.instance]?.resolution = .running(round: round, finished: finished)
        changed.insert(query.instance)
    }

    /// Avahi is gone, together with all browsers, without a removal report. The known information
    /// is kept until `sweep`.
    package mutating func libraryLost() {
        for name in instances.keys {
            instances[name]?.links = []
            instances[name]?.receivedKinds = []
            setResolution(name, .waiting)
        }
        isSelectionStale = true
        isAllForNow = false
    }

    /// Removes instances that have not reappeared since Avahi was lost.
    package mutating func sweep() {
        for (name, instance) in instances where instance.links.isEmpty { remove(name) }
    }

    /// While crowded, browses the unknown devices whose turn it is, and preempts unresolved
    /// instances in favour of waiting ones.
    package mutating func rotate() {
        guard isCrowded else { return }
        let isFull = instances.values.contains { $0.isChosen && $0.resolution == .waiting }
        let unknown = instances.filter { !$0.value.isMember && !$0.value.links.isEmpty }
        // New instances are behind all others, so a flood of them cannot prevent another device's
        // turn.
        let next = unknown.sorted { $0.value.turn < $1.value.turn }.prefix(ServiceDirectory.maxUnknown).map(\.key)
        for (name, instance) in instances {
            if isFull, case .running = instance.resolution {
                setResolution(name, .waiting)
                instances[name]?.receivedKinds = []
                instances[name]?.attempts += 1
            }
            if !instance.isMember { setChosen(name, false) }
        }
        for name in next { setChosen(name, true) }
    }

    // MARK: Output

    /// Updates the wanted queries and returns the changes as events. Call it after each batch of
    /// reports.
    package mutating func settle() -> [DiscoveryEvent] {
        // Only a new browser reports dropped instances again.
        if hasDroppedNames, !isCrowded { restartBrowsing() }
        if isSelectionStale { select() }
        isSelectionStale = false
        for name in changed { finishResolution(name) }
        for name in changed where hears { skipResolution(name) }
        if isWaiting { startResolutions() }
        var events = removed.map { DiscoveryEvent.removed(instance: $0) }
        removed = []
        for name in changed.sorted() { events += changes(of: name) }
        changed = []
        if isAllForNow { events.append(.allForNow) }
        isAllForNow = false
        return events
    }

    /// Returns the queries for which browsers should run, or nil if they have not changed since the
    /// last call.
    package mutating func takeWanted() -> Set<RecordQuery>? {
        guard isWantedStale else { return nil }
        isWantedStale = false
        var wanted: Set<RecordQuery> = []
        for interface in browsedInterfaces {
            wanted.insert(
                RecordQuery(kind: .instances, name: serviceName.text, round: browseRound, interface: interface))
            for (name, instance) in instances where instance.isChosen {
                wanted.formUnion(queries(for: name, instance, on: interface))
            }
        }
        return wanted
    }

    // MARK: Implementation

    /// Requests a new browser, which reports all instances again.
    private mutating func restartBrowsing() {
        hasDroppedNames = false
        browseRound &+= 1
        isWantedStale = true
    }

    private mutating func instanceAppeared(_ name: String, on link: RecordLink) {
        guard !ownInstances.contains(name) else { return }
        if let interface = interfaces.name(of: link.interface), !options.accepts(interface: interface) { return }
        if let instance = instances[name] {
            instances[name]?.links.insert(link)
            if instance.links.isEmpty {
                instances[name]?.mustReport = true
                isSelectionStale = true
            } else if !instance.links.contains(where: { $0.interface == link.interface }) {
                refresh(name)  // It may have other addresses there.
            }
        } else {
            let isMember = isMember(name)
            guard makeRoom(forMember: isMember) else {
                hasDroppedNames = true
                return
            }
            instances[name] = KnownInstance(isMember: isMember, turn: nextTurn(), links: [link])
            isSelectionStale = true
        }
        changed.insert(name)
    }

    private mutating func makeRoom(forMember isMember: Bool) -> Bool {
        guard instances.count >= ServiceDirectory.maxInstances else { return true }
        guard isMember, let unknown = instances.first(where: { !$0.value.isMember })?.key else { return false }
        hasDroppedNames = true
        remove(unknown)
        return true
    }

    private mutating func remove(_ name: String) {
        guard let instance = instances.removeValue(forKey: name) else { return }
        if instance.reported != nil { removed.append(name) }
        changed.remove(name)
        isSelectionStale = true
        isWantedStale = true
    }

    private mutating func select() {
        var unknownDevices = instances.values.count { $0.isChosen && !$0.isMember }
        for (name, instance) in instances {
            let isPresent = !instance.links.isEmpty
            if !isCrowded || instance.isMember {
                setChosen(name, isPresent)
            } else if !isPresent || (instance.isChosen && unknownDevices > ServiceDirectory.maxUnknown) {
                if instance.isChosen { unknownDevices -= 1 }
                setChosen(name, false)
            } else if !instance.isChosen, unknownDevices < ServiceDirectory.maxUnknown {
                unknownDevices += 1
                setChosen(name, true)
            }
            changed.insert(name)
        }
    }

    private mutating func nextTurn() -> UInt64 {
        lastTurn &+= 1
        return lastTurn
    }

    private mutating func setChosen(_ name: String, _ isChosen: Bool) {
        guard let instance = instances[name], instance.isChosen != isChosen else { return }
        instances[name]?.isChosen = isChosen
        if isChosen {
            let turn = nextTurn()
            instances[name]?.turn = turn
        }
        lastRound &+= 1
        instances[name]?.textRound = lastRound
        setResolution(name, .waiting)
        // Records of an unknown device are not kept without a browser that updates them.
        // Information from before Avahi was lost is kept.
        if !isChosen, isCrowded, !instance.isMember { instances[name]?.forgetRecords() }
        changed.insert(name)
    }

    /// Completes a round that has an address and expects no more records.
    private mutating func finishResolution(_ name: String) {
        guard let instance = instances[name], case .running(let round, let finished) = instance.resolution,
            finished.isSuperset(of: addressKinds) || instance.isComplete, !addresses(of: instance).isEmpty
        else { return }
        setResolution(name, .done)
        instances[name]?.targets.keep(round: round)
        instances[name]?.addresses.keep(round: round)
    }

    /// Skips the queries for an instance whose records were all received without one.
    private mutating func skipResolution(_ name: String) {
        guard let instance = instances[name], instance.isChosen, instance.resolution == .waiting, instance.isComplete,
            !addresses(of: instance).isEmpty
        else { return }
        setResolution(name, .done)
    }

    private mutating func setResolution(_ name: String, _ resolution: KnownInstance.Resolution) {
        instances[name]?.resolution = resolution
        isWantedStale = true
        // The end of a resolution also frees a place.
        isWaiting = true
    }

    private mutating func startResolutions() {
        isWaiting = false
        var room = ServiceDirectory.maxResolving
        var waiting: [(key: String, value: KnownInstance)] = []
        for (name, instance) in instances where instance.isChosen {
            switch instance.resolution {
            case .waiting: waiting.append((name, instance))
            case .running: room -= 1
            case .done: break
            }
        }
        guard room > 0, !waiting.isEmpty else { return }
        isWantedStale = true
        waiting.sort { one, other in
            one.value.isMember == other.value.isMember
                ? one.value.attempts < other.value.attempts : one.value.isMember
        }
        for (name, _) in waiting.prefix(room) {
            lastRound &+= 1
            instances[name]?.resolution = .running(round: lastRound, finished: [])
        }
    }

    private mutating func changes(of name: String) -> [DiscoveryEvent] {
        guard let instance = instances[name] else { return [] }
        // An unknown device is reported only while it is browsed.
        guard !isCrowded || instance.isMember || instance.isChosen else {
            instances[name]?.reported = nil
            return instance.reported == nil ? [] : [.removed(instance: name)]
        }
        let service = service(name, instance)
        guard service.text != nil || service.port != nil else { return [] }
        guard service != instance.reported || instance.mustReport else { return [] }
        instances[name]?.reported = service
        instances[name]?.mustReport = false
        return [.service(service)]
    }

    private func instanceName(_ data: [UInt8]) -> String? {
        guard let name = DomainName(wire: data[...]), Array(name.labels.dropFirst()) == serviceName.labels else {
            return nil
        }
        return name.labels.first
    }

    /// Returns whether a browser of this round is still running. Reports of stopped browsers may
    /// still arrive.
    private func isCurrent(_ query: RecordQuery) -> Bool {
        guard let instance = instances[query.instance] else { return false }
        if query.kind == .text { return instance.textRound == query.round }
        guard case .running(query.round, _) = instance.resolution else { return false }
        return query.kind == .target || target(of: instance)?.host.text == query.name
    }
}
