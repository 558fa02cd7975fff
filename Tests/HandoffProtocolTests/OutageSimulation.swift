import HandoffModel
import HandoffProtocol
import Testing

/// Devices of one account on a simulated network with a simulated clock. The table and the machine
/// of each are driven in the same way as by the daemon. Every packet takes 10 ms or is lost.
struct OutageSimulation {
    /// The treatment of packets from one device to another.
    struct Route {
        enum TCP: CaseIterable {
            case open
            case refused
            case silent
        }

        var datagramsPass = true
        var tcp = TCP.open
    }

    private struct Node {
        var table: PeerTable
        var machine: AdvertMachine
        var seq: UInt32 = 1
        var listSeq: UInt32 = 1
        /// True if its records reach the other devices, and theirs reach it.
        var hasMulticast = true
        /// The devices with a connection attempt in progress.
        var calls: Set<Int> = []
    }

    private struct Pair: Hashable {
        let one: Int
        let other: Int

        init(_ one: Int, _ other: Int) {
            (self.one, self.other) = (min(one, other), max(one, other))
        }
    }

    private enum Event {
        case advert(from: Int, to: Int, Announcement)
        case acknowledgement(from: Int, to: Int, Position)
        case attempt(from: Int, to: Int, number: Int)
        case failed(from: Int, to: Int)
        case hello(from: Int, to: Int, Hello, isClient: Bool)
        case close(Pair)
        case tick(Int)
    }

    private static let latency: UInt64 = 10
    /// The times in milliseconds after the start of a connection attempt at which the kernel sends
    /// its packet.
    private static let attempts: [UInt64] = [0, 1000, 3000]
    private static let generation: UInt64 = 100

    /// Milliseconds since the start.
    private(set) var now: UInt64 = 0
    private(set) var packets = 0
    private var nodes: [Node] = []
    private var routes: [[Route]]
    private var connections: Set<Pair> = []
    private var events: [(at: UInt64, order: Int, event: Event)] = []
    private var order = 0
    /// The times at which the first packet between two devices arrived since `repairAll`.
    private var arrivals: [Pair: UInt64] = [:]
    /// The times at which two devices were mutually online since then.
    private var meetings: [Pair: UInt64] = [:]

    init(_ count: Int) throws {
        routes = Array(repeating: Array(repeating: Route(), count: count), count: count)
        for index in 0..<count {
            let position = Position(generation: Self.generation, seq: 1)
            var table = PeerTable(own: try Self.id(index), ownPosition: position)
            table.ownListSeq = 1
            nodes.append(Node(table: table, machine: AdvertMachine(at: Samples.at(0))))
        }
        for index in 0..<count { try publish(index) }
    }

    private static func number(_ index: Int) -> UInt8 { UInt8(index + 1) }
    private static func id(_ index: Int) throws -> DeviceID { try Samples.device(number(index)) }
    private static func index(_ id: DeviceID) -> Int { Int(id.bytes[0]) - 1 }

    private var moment: MonotonicInstant { Samples.at(now) }

    // MARK: - For tests

    /// True if each device sees all others.
    var areTogether: Bool { nodes.allSatisfy { $0.table.count == nodes.count - 1 } }

    func sees(_ one: Int, _ other: Int) throws -> Bool { nodes[one].table[try Self.id(other)] != nil }

    mutating func setRoute(from one: Int, to other: Int, _ route: Route) { routes[one][other] = route }

    mutating func setMulticast(_ index: Int, _ passes: Bool) { nodes[index].hasMulticast = passes }

    /// Lets all packets pass from now on.
    mutating func repairAll() {
        for one in nodes.indices {
            nodes[one].hasMulticast = true
            for other in nodes.indices { routes[one][other] = Route() }
        }
        arrivals = [:]
        meetings = [:]
    }

    /// Changes the activities of a device.
    mutating func change(_ index: Int) throws { try announce(index, hasNewOffers: true) }

    /// The longest time from the first packet between two devices until they saw each other, in
    /// milliseconds.
    var longestReturn: UInt64 {
        arrivals.map { pair, arrival in (meetings[pair] ?? .max) - min(arrival, meetings[pair] ?? arrival) }.max() ?? 0
    }

    /// Advances the clock.
    mutating func run(for milliseconds: UInt64) throws {
        let end = now + milliseconds
        while let next = events.indices.min(by: {
            (events[$0].at, events[$0].order) < (events[$1].at, events[$1].order)
        }) {
            guard events[next].at <= end else { break }
            let event = events.remove(at: next)
            now = max(now, event.at)
            try handle(event.event)
            try recordMeetings()
        }
        now = end
    }

    private mutating func recordMeetings() throws {
        for pair in arrivals.keys where meetings[pair] == nil {
            if try sees(pair.one, pair.other) && sees(pair.other, pair.one) { meetings[pair] = now }
        }
    }

    // MARK: - Events

    private mutating func schedule(_ event: Event, after wait: UInt64 = latency) {
        order += 1
        events.append((now + wait, order, event))
    }

    private mutating func arrived(_ one: Int, _ other: Int) {
        let pair = Pair(one, other)
        if arrivals[pair] == nil { arrivals[pair] = now }
    }

    private func passesTCP(_ one: Int, _ other: Int) -> Bool {
        routes[one][other].tcp == .open && routes[other][one].tcp == .open
    }

    private mutating func handle(_ event: Event) throws {
        switch event {
        case .advert(let from, let to, let announcement): try received(announcement, from: from, at: to)
        case .acknowledgement(let from, let to, let position):
            arrived(from, to)
            let id = try Self.id(from)
            let changes = nodes[to].table.recover(id, at: moment)
            let address = try Samples.address(Self.number(from))
            if nodes[to].table.receivedAcknowledgement(of: position, from: id, proving: address, at: moment) {
                let actions = nodes[to].machine.receivedAcknowledgement(from: id, peers: nodes[to].table, at: moment)
                try perform(actions, by: to)
            }
            try handle(changes, at: to)
        case .attempt(let from, let to, let number): try attempt(from, to, number)
        case .failed(let from, let to): try failed(from, to)
        case .hello(let from, let to, let hello, let isClient):
            let id = try Self.id(from)
            let changes = nodes[to].table.receivedHello(
                hello, from: id, address: try Samples.address(Self.number(from)), isProved: isClient, at: moment)
            nodes[to].table.connectionOpened(id)
            try handle(changes, at: to)
            try perform(nodes[to].machine.connected(id, peers: nodes[to].table, at: moment), by: to)
        case .close(let pair): try close(pair)
        case .tick(let index):
            let node = nodes[index]
            let next = [node.machine.nextDeadline(peers: node.table), node.table.nextDeadline].compactMap(\.self).min()
            guard let next, next <= moment else { return }
            try handle(nodes[index].table.expire(at: moment), at: index)
            try perform(nodes[index].machine.deadlinePassed(peers: nodes[index].table, at: moment), by: index)
        }
    }

    private mutating func received(_ announcement: Announcement, from: Int, at to: Int) throws {
        arrived(from, to)
        let label = try Samples.label(Self.number(from))
        let arrival = try Samples.arrival(Self.number(from))
        let reception = nodes[to].table.receivedAdvert(
            announcement, label: label, source: arrival.source, at: moment)
        let actions = nodes[to].machine.receivedAdvert(
            announcement, label: label, arrival: arrival, reception: reception, peers: nodes[to].table, at: moment)
        try perform(actions, by: to)
        try handle(reception.changes, at: to)
    }

    private mutating func perform(_ actions: [AdvertAction], by index: Int) throws {
        for action in actions {
            switch action {
            case .send(let address, let device, _):
                let to = Self.index(device)
                packets += 1
                guard routes[index][to].datagramsPass, address == (try Samples.address(Self.number(to))) else {
                    continue
                }
                schedule(.advert(from: index, to: to, try announcement(of: index)))
            case .acknowledge(let position, let device, _, _):
                let to = Self.index(device)
                packets += 1
                if routes[index][to].datagramsPass { schedule(.acknowledgement(from: index, to: to, position)) }
            case .useConnection(let device): try deliver(index, Self.index(device))
            case .renew: try announce(index, hasNewOffers: false)
            case .depart(let device, let reason):
                try handle(nodes[index].table.drop(device, because: reason, at: moment), at: index)
            }
        }
        rearm(index)
    }

    private mutating func handle(_ changes: [PeerChange], at index: Int) throws {
        for change in changes {
            switch change {
            case .appeared(let id), .changed(let id):
                try perform(nodes[index].machine.discovered(id, peers: nodes[index].table, at: moment), by: index)
            case .offersChanged: break
            case .moreToFetch(let id): call(index, Self.index(id))
            case .gone(let id, _):
                nodes[index].machine.forget(id)
                nodes[index].machine.lost(id, peers: nodes[index].table, at: moment)
            }
        }
        rearm(index)
    }

    private mutating func rearm(_ index: Int) {
        let node = nodes[index]
        let next = [node.machine.nextDeadline(peers: node.table), node.table.nextDeadline].compactMap(\.self).min()
        guard let next else { return }
        let wait = max(moment.duration(to: next), .zero)
        // Rounded up, because a tick before the deadline does nothing.
        schedule(.tick(index), after: UInt64(max(wait / .milliseconds(1), 0)) + 1)
    }

    // MARK: - Announcements

    private func announcement(of index: Int) throws -> Announcement {
        try Samples.announcement(
            Self.number(index), generation: Self.generation, seq: nodes[index].seq, listSeq: nodes[index].listSeq)
    }

    private mutating func announce(_ index: Int, hasNewOffers: Bool) throws {
        nodes[index].seq += 1
        if hasNewOffers { nodes[index].listSeq = nodes[index].seq }
        nodes[index].table.ownPosition = Position(generation: Self.generation, seq: nodes[index].seq)
        nodes[index].table.ownListSeq = nodes[index].listSeq
        try perform(
            nodes[index].machine.changed(hasNewOffers, peers: nodes[index].table, at: moment), by: index)
        try publish(index)
    }

    /// Publishes a changed record of a device to the devices that multicast reaches.
    private mutating func publish(_ index: Int) throws {
        guard nodes[index].hasMulticast else { return }
        let label = try Samples.label(Self.number(index))
        let id = try Self.id(index)
        for other in nodes.indices where other != index && nodes[other].hasMulticast {
            let reception = nodes[other].table.receivedBeacon(
                try announcement(of: index), label: label, instance: label.instanceName,
                addresses: [try Samples.address(Self.number(index))], freshUntil: moment + .seconds(300), at: moment)
            try handle(reception.changes, at: other)
            try perform(nodes[other].machine.discovered(id, peers: nodes[other].table, at: moment), by: other)
        }
    }

    // MARK: - Connections

    private func hello(of index: Int) throws -> Hello {
        try Samples.hello(
            generation: Self.generation, seq: nodes[index].seq, listSeq: nodes[index].listSeq, label: Self.number(index)
        )
    }

    private mutating func deliver(_ from: Int, _ to: Int) throws {
        guard connections.contains(Pair(from, to)) else { return call(from, to) }
        nodes[from].table.delivered(nodes[from].table.ownPosition, to: try Self.id(to))
        nodes[from].machine.delivered(to: try Self.id(to), peers: nodes[from].table)
        if passesTCP(from, to) {
            let changes = nodes[to].table.receivedHello(
                try hello(of: from), from: try Self.id(from), address: nil, at: moment)
            try handle(changes, at: to)
        } else {
            // The check whether the connection still works ends it.
            schedule(.close(Pair(from, to)), after: 1000)
        }
    }

    private mutating func call(_ from: Int, _ to: Int) {
        guard !connections.contains(Pair(from, to)), nodes[from].calls.insert(to).inserted else { return }
        for number in Self.attempts.indices {
            schedule(.attempt(from: from, to: to, number: number), after: Self.attempts[number])
        }
        schedule(.failed(from: from, to: to), after: 5000)
    }

    private mutating func endCall(_ from: Int, _ to: Int) {
        nodes[from].calls.remove(to)
        events.removeAll {
            switch $0.event {
            case .attempt(from, to, _), .failed(from, to): true
            default: false
            }
        }
    }

    private mutating func attempt(_ from: Int, _ to: Int, _ number: Int) throws {
        packets += 1
        if routes[from][to].tcp == .refused, routes[to][from].tcp == .open { return try failed(from, to) }
        guard passesTCP(from, to) else { return }
        endCall(from, to)
        arrived(from, to)
        guard connections.insert(Pair(from, to)).inserted else { return }
        schedule(.hello(from: from, to: to, try hello(of: from), isClient: false))
        schedule(.hello(from: to, to: from, try hello(of: to), isClient: true))
        schedule(.close(Pair(from, to)), after: 10_000)
        nodes[from].table.delivered(nodes[from].table.ownPosition, to: try Self.id(to))
        nodes[from].machine.delivered(to: try Self.id(to), peers: nodes[from].table)
    }

    private mutating func failed(_ from: Int, _ to: Int) throws {
        endCall(from, to)
        let id = try Self.id(to)
        nodes[from].table.addressFailed(try Samples.address(Self.number(to)), of: id)
        try perform(nodes[from].machine.callFailed(to: id, peers: nodes[from].table, at: moment), by: from)
    }

    private mutating func close(_ pair: Pair) throws {
        guard connections.remove(pair) != nil else { return }
        let isCut = !passesTCP(pair.one, pair.other)
        for (here, there) in [(pair.one, pair.other), (pair.other, pair.one)] {
            let id = try Self.id(there)
            nodes[here].table.connectionClosed(id, at: moment)
            if isCut {
                try perform(nodes[here].machine.connectionCut(id, peers: nodes[here].table, at: moment), by: here)
            } else {
                rearm(here)
            }
        }
    }
}
