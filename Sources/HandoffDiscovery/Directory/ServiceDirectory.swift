import LoopIO

/// The instances on the network: which records to ask for, and what they say. A machine of plain values: Avahi's
/// reports go in, wanted queries and events come out; it does nothing itself. See `docs/state-machines/discovery.md`.
///
/// Everything that it is told comes from strangers. It takes at most `instanceCap` names, browses all alike while
/// there are few (so that the questions do not show who belongs together), and when there are many it browses members
/// first and some strangers in turn: for cover, and since a member in another epoch looks like a stranger, and any member
/// to a device that is joining. A stranger waits for its turn for at most `instanceCap / strangerCap` periods.
package struct ServiceDirectory: Sendable {
    /// The most instances that are kept; each costs some kilobytes and up to four of the 1,024 objects of a client of
    /// Avahi.
    package static let instanceCap = 512
    /// Up to so many instances all are browsed alike.
    package static let alikeCap = 64
    /// Above that, so many strangers are browsed, others every `rotationPeriod`.
    package static let strangerCap = 32
    /// The most instances whose host and addresses are asked for at the same time.
    package static let resolvingCap = 64
    /// The most addresses told of an instance.
    package static let addressCap = 8
    /// How long a stranger is browsed, and an unresolved instance keeps its place, while there are too many.
    package static let rotationPeriod = Duration.seconds(10)

    let options: DiscoveryOptions
    let serviceName: DomainName
    /// Whether it is told what packets say (`heard`). Then a text is asked for until it is known, and not for ever: a question
    /// for each of N instances, with the known answer of a kilobyte, by each of N devices would be most of all traffic.
    let hears: Bool
    /// What follows the name of an instance in the names of its records.
    let instanceSuffix: String
    var interfaces = InterfaceTable()
    var instances: [String: KnownInstance] = [:]
    private var ownInstances: [String] = []
    private var isMember: @Sendable (String) -> Bool = { _ in false }
    private var browseRound: UInt32 = 0
    private var lastRound: UInt32 = 0
    private var lastTurn: UInt64 = 0
    private var hasOverlooked = false
    private var isSelectionStale = false
    /// Whether `wanted` may differ from what it was; making it costs too much to do it after every report.
    var isWantedStale = true
    /// Whether an instance may be waiting for room to be resolved.
    private var isWaiting = false
    private var isAllForNow = false
    var changed: Set<String> = []
    private var removed: [String] = []

    /// - Parameters:
    ///   - options: its service type must be two labels; another is a mistake of ours.
    ///   - hears: whether `heard` is called for all packets of the service.
    package init(options: DiscoveryOptions, hears: Bool = false) {
        self.options = options
        self.hears = hears
        self.serviceName = options.serviceName
        instanceSuffix = "." + serviceName.text
    }

    /// True while there are more instances than are browsed alike: then `rotate` is due every `rotationPeriod`.
    package var isCrowded: Bool { instances.count > ServiceDirectory.alikeCap }

    // MARK: What the owner says

    /// Our own instance, and those before it, are never reported.
    package mutating func setOwnInstance(_ name: String) {
        guard let name = DomainName.label(name), ownInstances.last != name else { return }
        ownInstances.append(name)
        // The one before is still withdrawn while the new one is announced; a few more cost nothing.
        if ownInstances.count > 4 { ownInstances.removeFirst() }
        remove(name)
    }

    /// Judges all names anew.
    package mutating func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        self.isMember = isMember
        for name in instances.keys { instances[name]?.isMember = isMember(name) }
        isSelectionStale = true
        changed.formUnion(instances.keys)
        // A name that found no room may be a member's now.
        if hasOverlooked { browseAnew() }
    }

    /// The machine's links and addresses, which decide what counts.
    package mutating func setInterfaces(_ table: InterfaceTable) {
        interfaces = table
        isWantedStale = true
        changed.formUnion(instances.keys)
    }

    /// Asks again for the host and the addresses of an instance.
    package mutating func refresh(_ name: String) {
        guard let instance = instances[name] else { return }
        // A round that still expects answers is as good as a new one.
        if case .running(_, let finished) = instance.resolution, finished.isEmpty { return }
        setResolution(name, .waiting)
        instances[name]?.heard = []
        instances[name]?.attempts = 0
    }

    // MARK: What Avahi says

    /// A record is there.
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

    /// A record is gone.
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

    /// Avahi has told what it knows and expects no more answers to this query soon.
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

    /// Avahi is gone, and all browsers with it, without a report. What was known stays until `sweep`.
    package mutating func libraryLost() {
        for name in instances.keys {
            instances[name]?.links = []
            instances[name]?.heard = []
            setResolution(name, .waiting)
        }
        isSelectionStale = true
        isAllForNow = false
    }

    /// Removes what was not seen again since Avahi was lost.
    package mutating func sweep() {
        for (name, instance) in instances where instance.links.isEmpty { remove(name) }
    }

    /// While crowded: browses the strangers whose turn it is, and lets unresolved instances give way to waiting ones.
    package mutating func rotate() {
        guard isCrowded else { return }
        let isFull = instances.values.contains { $0.isChosen && $0.resolution == .waiting }
        let strangers = instances.filter { !$0.value.isMember && !$0.value.links.isEmpty }
        // New ones stand behind all others, so that a flood of them keeps nobody from his turn.
        let next = strangers.sorted { $0.value.turn < $1.value.turn }.prefix(ServiceDirectory.strangerCap).map(\.key)
        for (name, instance) in instances {
            if isFull, case .running = instance.resolution {
                setResolution(name, .waiting)
                instances[name]?.heard = []
                instances[name]?.attempts += 1
            }
            if !instance.isMember { setChosen(name, false) }
        }
        for name in next { setChosen(name, true) }
    }

    // MARK: What follows

    /// Decides what to browse from now on (`wanted`), and returns the news. To be called after every batch of
    /// reports.
    package mutating func settle() -> [DiscoveryEvent] {
        // Those that found no room are reported again by a new browser only.
        if hasOverlooked, !isCrowded { browseAnew() }
        if isSelectionStale { select() }
        isSelectionStale = false
        for name in changed { finishResolution(name) }
        for name in changed where hears { skipResolution(name) }
        if isWaiting { startResolutions() }
        var events = removed.map { DiscoveryEvent.removed(instance: $0) }
        removed = []
        for name in changed.sorted() { events += news(of: name) }
        changed = []
        if isAllForNow { events.append(.allForNow) }
        isAllForNow = false
        return events
    }

    /// The queries that a browser should be running for; nil when they are the same as at the last call.
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

    // MARK: Inside

    /// Takes a new browser, which reports all instances again.
    private mutating func browseAnew() {
        hasOverlooked = false
        browseRound &+= 1
        isWantedStale = true
    }

    private mutating func instanceAppeared(_ name: String, on link: RecordLink) {
        guard !ownInstances.contains(name) else { return }
        if let interface = interfaces.name(of: link.interface), !options.accepts(interface: interface) { return }
        if let instance = instances[name] {
            instances[name]?.links.insert(link)
            if instance.links.isEmpty {
                instances[name]?.mustAnnounce = true
                isSelectionStale = true
            } else if !instance.links.contains(where: { $0.interface == link.interface }) {
                refresh(name)  // It may have other addresses there.
            }
        } else {
            let isMember = isMember(name)
            guard makeRoom(forMember: isMember) else {
                hasOverlooked = true
                return
            }
            instances[name] = KnownInstance(isMember: isMember, turn: nextTurn(), links: [link])
            isSelectionStale = true
        }
        changed.insert(name)
    }

    private mutating func makeRoom(forMember isMember: Bool) -> Bool {
        guard instances.count >= ServiceDirectory.instanceCap else { return true }
        guard isMember, let stranger = instances.first(where: { !$0.value.isMember })?.key else { return false }
        hasOverlooked = true
        remove(stranger)
        return true
    }

    private mutating func remove(_ name: String) {
        guard let instance = instances.removeValue(forKey: name) else { return }
        if instance.announced != nil { removed.append(name) }
        changed.remove(name)
        isSelectionStale = true
        isWantedStale = true
    }

    private mutating func select() {
        var strangers = instances.values.count { $0.isChosen && !$0.isMember }
        for (name, instance) in instances {
            let isPresent = !instance.links.isEmpty
            if !isCrowded || instance.isMember {
                setChosen(name, isPresent)
            } else if !isPresent || (instance.isChosen && strangers > ServiceDirectory.strangerCap) {
                if instance.isChosen { strangers -= 1 }
                setChosen(name, false)
            } else if !instance.isChosen, strangers < ServiceDirectory.strangerCap {
                strangers += 1
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
        // A stranger's records are not kept without a browser that keeps them current. What was lost with Avahi stays.
        if !isChosen, isCrowded, !instance.isMember { instances[name]?.forgetRecords() }
        changed.insert(name)
    }

    /// Ends a round that has an address and of which no more is expected.
    private mutating func finishResolution(_ name: String) {
        guard let instance = instances[name], case .running(let round, let finished) = instance.resolution,
            finished.isSuperset(of: addressKinds) || instance.isHeard, !addresses(of: instance).isEmpty
        else { return }
        setResolution(name, .done)
        instances[name]?.targets.keep(round: round)
        instances[name]?.addresses.keep(round: round)
    }

    /// Asks for nothing of an instance that has said everything by itself.
    private mutating func skipResolution(_ name: String) {
        guard let instance = instances[name], instance.isChosen, instance.resolution == .waiting, instance.isHeard,
            !addresses(of: instance).isEmpty
        else { return }
        setResolution(name, .done)
    }

    private mutating func setResolution(_ name: String, _ resolution: KnownInstance.Resolution) {
        instances[name]?.resolution = resolution
        isWantedStale = true
        // Also the end of one: it makes room.
        isWaiting = true
    }

    private mutating func startResolutions() {
        isWaiting = false
        var room = ServiceDirectory.resolvingCap
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

    private mutating func news(of name: String) -> [DiscoveryEvent] {
        guard let instance = instances[name] else { return [] }
        // What a stranger said is told while it is browsed.
        guard !isCrowded || instance.isMember || instance.isChosen else {
            instances[name]?.announced = nil
            return instance.announced == nil ? [] : [.removed(instance: name)]
        }
        let service = service(name, instance)
        guard service.text != nil || service.port != nil else { return [] }
        guard service != instance.announced || instance.mustAnnounce else { return [] }
        instances[name]?.announced = service
        instances[name]?.mustAnnounce = false
        return [.service(service)]
    }

    private func instanceName(_ data: [UInt8]) -> String? {
        guard let name = DomainName(wire: data[...]), Array(name.labels.dropFirst()) == serviceName.labels else {
            return nil
        }
        return name.labels.first
    }

    /// Whether a browser of this round still runs; reports of stopped ones may be under way.
    private func isCurrent(_ query: RecordQuery) -> Bool {
        guard let instance = instances[query.instance] else { return false }
        if query.kind == .text { return instance.textRound == query.round }
        guard case .running(query.round, _) = instance.resolution else { return false }
        return query.kind == .target || target(of: instance)?.host.text == query.name
    }
}
