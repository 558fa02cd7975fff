import FuzzSupport
import HandoffModel
import HandoffProtocol

/// Three devices that are announced by datagrams, records and connections, in any order and repeatedly.
enum Neighbourhood {
    /// Four bytes are a step: its kind, the device, the number of its start, and of its change.
    /// Invariants: an announcement that is older than an accepted one, or than a leave message,
    /// changes nothing. Every report is the current state. No announcement is trusted for longer
    /// than its time.
    static func play(_ input: inout Input) {
        let devices = (1...4).compactMap { DeviceID(bytes: [UInt8](repeating: $0, count: 32)) }
        guard devices.count == 4, let label = Label(bytes: [UInt8](repeating: 5, count: 16)) else { return }
        var table = PeerTable(own: devices[3], ownPosition: Position(generation: 50, seq: 3))
        var watch = Watch(devices: devices)
        var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        for _ in 0..<500 where !input.isEmpty {
            let step = input.byte()
            let device = devices[Int(input.byte() % 4)]
            let position = Position(generation: 1 + UInt64(input.byte() % 4), seq: UInt32(input.byte() % 8))
            let choice = step >> 4
            switch step & 15 {
            case 0...5:
                guard let said = announcement(device, position, choice) else { return }
                let before = table
                let reception =
                    step & 1 == 0
                    ? table.receivedAdvert(said, label: label, source: address(choice), at: now)
                    : table.receivedBeacon(
                        said, label: label, instance: label.instanceName,
                        addresses: [address(choice)].compactMap { $0 }, at: now)
                watch.received(said, reception, before: before, after: table)
            case 6, 7:
                guard let hello = hello(position, leaveReason: leaveReason(choice & 7), hasSeq: choice & 8 == 0) else {
                    return
                }
                let changes = table.receivedHello(hello, from: device, address: address(choice), at: now)
                watch.heard(hello, from: device, changes, table)
            case 8:
                let list = ActivityList(position: position, activities: activities(choice))
                watch.take(table.receivedList(list, from: device, at: now), table)
            case 9: table.connectionOpened(device)
            case 10: table.connectionClosed(device, at: now)
            case 11, 12:
                now = now + .seconds(Int(choice) * 40)
                watch.take(table.expire(at: now), table)
                require(table.nextDeadline.map { $0 > now } ?? true, "a deadline remains after it has passed")
            case 13: _ = table.instanceRemoved(label.instanceName)
            case 14:
                watch.take(table.remove(device, because: choice & 1 == 0 ? .silent : .goodbye), table)
                if choice & 1 == 1 { watch.isGone(device) }
            default:
                _ = table.receivedAcknowledgement(of: position, from: device, proving: address(choice), at: now)
            }
            for peer in table.all {
                require(peer.offers.count <= 256, "more offers of one device are kept than allowed")
                require(peer.offers.allSatisfy { $0.expires <= now + PeerTable.maxLifetime }, "an offer never ends")
                require(peer.deviceID != devices[3], "this device is one of the others")
                require(table.asleepSince(peer.deviceID) == nil, "an online device is asleep")
            }
        }
    }

    /// The state that listeners of the table know.
    private struct Watch {
        let devices: [DeviceID]
        var present: Set<DeviceID> = []
        /// The newest accepted position of each.
        var newest: [DeviceID: Position] = [:]

        init(devices: [DeviceID]) { self.devices = devices }

        mutating func received(_ said: Announcement, _ reception: Reception, before: PeerTable, after: PeerTable) {
            let id = said.deviceID
            take(reception.changes, after)
            switch reception {
            case .own: require(id == devices[3], "another device is mistaken for this one")
            case .stale: break
            case .new, .repeated:
                if let known = newest[id] { require(said.position >= known, "an older announcement is accepted") }
                newest[id] = said.position
            }
            if let known = newest[id], said.position < known {
                require(reception == .stale, "an older announcement is not detected")
                require(after[id]?.offers == before[id]?.offers, "an older announcement changes offers")
                require(
                    after[id]?.candidates.ranked.map(\.address) == before[id]?.candidates.ranked.map(\.address),
                    "an older announcement changes addresses")
                require(
                    (after[id] == nil) == (before[id] == nil),
                    "an older announcement brings a device, or takes one away")
            }
        }

        mutating func heard(_ hello: Hello, from id: DeviceID, _ changes: [PeerChange], _ table: PeerTable) {
            take(changes, table)
            guard let peer = table[id] else { return }
            require(peer.generation >= newest[id]?.generation ?? 0, "a hello of an older start restores a device")
        }

        /// It sent a leave message.
        mutating func isGone(_ id: DeviceID) { require(!present.contains(id), "a device that has left is online") }

        mutating func take(_ changes: [PeerChange], _ table: PeerTable) {
            for change in changes {
                switch change {
                case .appeared(let id): require(present.insert(id).inserted, "a device appears twice")
                case .gone(let id, _): require(present.remove(id) != nil, "a device disappears twice")
                case .changed(let id), .offersChanged(let id), .moreToFetch(let id):
                    require(present.contains(id), "a change of an offline device is reported")
                }
            }
            require(present == Set(table.all.map(\.deviceID)), "the online devices differ from the reported ones")
        }
    }

    private static func announcement(_ id: DeviceID, _ position: Position, _ choice: UInt8) -> Announcement? {
        Announcement(
            deviceID: id, position: position, port: 24863, kind: .laptop,
            leaveReason: choice > 7 ? leaveReason(choice & 7) : nil,
            hasMore: choice & 1 == 1,
            rosterDigest: [UInt8](repeating: choice, count: 8), listSeq: min(position.seq, UInt32(choice)),
            activities: activities(choice))
    }

    private static func leaveReason(_ choice: UInt8) -> LeaveReason? {
        switch choice {
        case 7: .goodbye
        case 6: .sleep
        default: nil
        }
    }

    private static func activities(_ choice: UInt8) -> [ActivitySummary] {
        (0..<choice & 3).compactMap { number in
            guard let id = ActivityID(bytes: [UInt8](repeating: number &+ choice >> 2, count: 16)),
                let type = ActivityType("com.example.note")
            else { return nil }
            return ActivitySummary(
                id: id, type: type, title: nil, team: nil, supportsStreams: false, hasWebpageURL: false, age: 0)
        }
    }

    private static func hello(_ position: Position, leaveReason: LeaveReason?, hasSeq: Bool) -> Hello? {
        Hello(
            software: "fuzz/1", kind: .laptop, port: 24863, label: Label(bytes: [UInt8](repeating: 5, count: 16)),
            generation: position.generation, seq: hasSeq ? position.seq : nil, seenGeneration: nil,
            rosterDigest: [UInt8](repeating: 0, count: 8), epoch: nil, leaveReason: leaveReason)
    }

    private static func address(_ number: UInt8) -> PeerAddress? {
        PeerAddress(host: [192, 0, 2, number], port: 24863)
    }
}
