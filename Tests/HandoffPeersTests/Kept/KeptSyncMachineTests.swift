import HandoffAccount
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import Testing

/// The decisions about comparing and forwarding records of kept activities.
@Suite struct KeptSyncMachineTests {
    private let desk: KeptSigner
    private let couch: KeptSigner
    private let hall: KeptSigner
    private let shed: KeptSigner
    private var machine = KeptSyncMachine()

    init() throws {
        (desk, couch, hall, shed) = (try KeptSigner(0), try KeptSigner(1), try KeptSigner(2), try KeptSigner(3))
    }

    private func context(_ seconds: UInt64 = 0) -> KeptStore.Context {
        KeptStore.Context([desk, couch, hall, shed], at: seconds)
    }

    private func sent(_ records: KeptRecord...) -> [SentKeptRecord] {
        records.map { SentKeptRecord($0, left: $0.lifetime) }
    }

    private func name(_ record: KeptRecord) -> KeptName { KeptName(of: record.encoded) }

    private mutating func hello(
        _ device: KeptSigner, _ digest: UInt8?, at seconds: UInt64 = 0
    ) -> [KeptSyncMachine.Effect] {
        machine.receivedHello(
            from: device.id, isKeeper: true, digest: digest.map { [UInt8](repeating: $0, count: 16) },
            shown: machine.digest, at: context(seconds).now)
    }

    private mutating func receive(
        _ records: [SentKeptRecord], receivers: Set<DeviceID> = [], at seconds: UInt64 = 0
    ) -> [KeptSyncMachine.Forward] {
        machine.receive(
            records, from: desk.id, receivers: receivers, keepers: [desk.id, hall.id, shed.id], context(seconds)
        ).forwards
    }

    @Test mutating func `new records are forwarded once, to members that the sender has not reached`() throws {
        let records = sent(try desk.copy(1, at: 1), try desk.list([1], at: 2))
        let forwards = receive(records, receivers: [couch.id, hall.id])
        #expect(forwards.map(\.targets) == [[shed.id]] && forwards[0].records.count == 2)
        #expect(receive(records).isEmpty, "they are known")
        #expect(receive(sent(try desk.copy(2, at: 3)), receivers: [couch.id, hall.id, shed.id]).isEmpty)
        // Each record goes to all but its own signer.
        let mixed = receive(sent(try hall.receipt(1, of: shed, at: 1), try shed.copy(1, at: 1)))
        #expect(Set(mixed.map(\.targets)) == [[shed.id], [hall.id]])
    }

    @Test mutating func `members that a device may not have reached before it went offline receive a hello`() throws {
        #expect(hello(hall, nil) == [] && hello(shed, nil) == [])
        #expect(receive(sent(try desk.copy(1, at: 1)), receivers: [couch.id, hall.id, shed.id]).isEmpty)
        _ = machine.receivedHello(
            from: shed.id, isKeeper: true, digest: machine.digest, shown: machine.digest, at: context().now)
        #expect(machine.nextDeadline == nil)
        machine.wentOffline(desk.id, at: context(1).now)
        let deadline = try #require(machine.nextDeadline)
        #expect(machine.tick(online: [hall.id, shed.id], at: deadline) == [.greet(hall.id)])
        // Only once.
        machine.wentOffline(desk.id, at: deadline)
        #expect(machine.nextDeadline == nil && machine.isSettled)
    }

    @Test mutating func `a member's records are forwarded at a limited rate, and then fetched`() throws {
        var forwarded = 0
        for time in UInt64(1)...40 { forwarded += receive(sent(try desk.copy(1, at: time))).count }
        #expect(forwarded == 12)
        #expect(machine.store.activity(KeptSigner.activity(1), of: desk.id)?.stamp.time == KeptSigner.start + 40)
        let deadline = try #require(machine.nextDeadline)
        #expect(deadline == context(30).now)
        let effects = machine.tick(online: [hall.id, shed.id], at: deadline)
        #expect(effects == [hall.id, shed.id].sorted().map { .greet($0) })
        #expect(machine.nextDeadline == nil && machine.isSettled)
    }

    @Test mutating func `requests are limited for each member`() {
        var admitted = 0
        for _ in 0..<100 where machine.admit(desk.id, at: context().now) { admitted += 1 }
        #expect(admitted == 32)
        let isOtherAdmitted = machine.admit(couch.id, at: context().now)
        let isAdmittedLater = machine.admit(desk.id, at: context(1).now)
        #expect(isOtherAdmitted && isAdmittedLater)
    }

    @Test mutating func `one member is compared at a time, and equal ones are not`() throws {
        #expect(hello(desk, 1) == [.requestNames(desk.id)])
        #expect(hello(couch, 2) == [] && hello(hall, nil) == [])
        let copy = try desk.copy(1, at: 1)
        #expect(machine.receivedNames([name(copy)], from: couch.id, at: context().now) == [], "it was not requested")
        #expect(
            machine.receivedNames([name(copy)], from: desk.id, at: context().now)
                == [.fetch([name(copy)], from: desk.id)])
        let (new, effects) = machine.receivedRecords(sent(copy), from: desk.id, context())
        #expect(new.count == 1)
        let greeted = [desk.id, couch.id, hall.id].sorted().map { KeptSyncMachine.Effect.greet($0) }
        #expect(effects == greeted + [.requestNames(couch.id)])
        #expect(machine.receivedNames([name(copy)], from: couch.id, at: context().now) == [])
        #expect(machine.isSettled)
        #expect(
            machine.receivedHello(
                from: shed.id, isKeeper: true, digest: machine.digest, shown: nil, at: context().now) == [])
        #expect(
            machine.receivedHello(from: shed.id, isKeeper: false, digest: [1], shown: nil, at: context().now) == [])
    }

    @Test mutating func `a hello that was sent before a record arrived is sent again`() throws {
        _ = machine.push([try couch.copy(1, at: 1)], context())
        let effects = machine.receivedHello(
            from: desk.id, isKeeper: true, digest: nil, shown: nil, at: context().now)
        #expect(effects == [.greet(desk.id)])
        let again = machine.receivedHello(
            from: desk.id, isKeeper: true, digest: nil, shown: machine.digest, at: context().now)
        #expect(again == [])
    }

    @Test mutating func `a member cannot cause an endless comparison`() throws {
        // It announces names of records that it does not send.
        let names = (0..<300).map { KeptName(of: [UInt8($0 % 256), UInt8($0 / 256)]) }
        #expect(hello(desk, 1) == [.requestNames(desk.id)])
        guard case .fetch(let batch, _)? = machine.receivedNames(names, from: desk.id, at: context().now).first else {
            Issue.record("nothing is fetched")
            return
        }
        #expect(batch.count == KeptSyncMachine.maxRecords)
        #expect(machine.receivedRecords([], from: desk.id, context()).effects == [])
        #expect(machine.nextDeadline == context(20).now, "it is compared again later")
        // It sends records that were not requested.
        #expect(hello(desk, 2) == [.requestNames(desk.id)])
        _ = machine.receivedNames(names, from: desk.id, at: context().now)
        let (new, effects) = machine.receivedRecords(sent(try desk.copy(1, at: 1)), from: desk.id, context())
        #expect(new.isEmpty && effects.isEmpty && machine.store.isEmpty)
        // It sends one record at a time, slowly.
        #expect(hello(desk, 3) == [.requestNames(desk.id)])
        let copies = try (1...8).map { try desk.copy(UInt8($0), at: $0) }
        _ = machine.receivedNames(copies.map(name), from: desk.id, at: context().now)
        var requests = 1
        for (index, copy) in copies.enumerated() {
            let seconds = UInt64(4 * (index + 1))
            requests +=
                machine.receivedRecords(sent(copy), from: desk.id, context(seconds)).effects
                .filter { if case .fetch = $0 { true } else { false } }.count
        }
        #expect(requests == 3, "it has 10 seconds")
    }

    @Test mutating func `a member that always announces another digest is compared at a limited rate`() {
        var requests = 0
        for round in 0..<100 {
            let effects = hello(desk, UInt8(round + 1))
            requests += effects.count
            if !effects.isEmpty { _ = machine.receivedNames([], from: desk.id, at: context().now) }
        }
        #expect(requests == 8)
        // Others are compared meanwhile.
        #expect(hello(couch, 200) == [.requestNames(couch.id)])
    }

    @Test mutating func `a comparison without an answer ends, and is repeated while there is a connection`() {
        #expect(hello(desk, 1) == [.requestNames(desk.id)])
        #expect(hello(couch, 1) == [])
        #expect(machine.nextDeadline == context(10).now)
        #expect(machine.tick(online: [], at: context(10).now) == [.requestNames(couch.id)])
        #expect(machine.receivedNames(nil, from: couch.id, at: context(11).now) == [])
        #expect(machine.nextDeadline == context(30).now)
        machine.disconnected(couch.id)
        #expect(machine.tick(online: [], at: context(30).now) == [.requestNames(desk.id)])
        #expect(machine.receivedNames(nil, from: desk.id, at: context(31).now) == [])
        machine.wentOffline(desk.id, at: context().now)
        #expect(machine.isSettled && machine.needsHello(of: desk.id))
        #expect(machine.tick(online: [], at: context(60).now) == [])
        #expect(machine.nextDeadline == nil)
    }

    @Test mutating func `records that were not stored are not fetched again for some time`() throws {
        let forged = try KeptSigner(9).copy(1, at: 1)
        for (round, isFetched) in [true, false].enumerated() {
            #expect(hello(desk, UInt8(round + 1)) == [.requestNames(desk.id)])
            let effects = machine.receivedNames([name(forged)], from: desk.id, at: context().now)
            #expect(effects == (isFetched ? [.fetch([name(forged)], from: desk.id)] : []))
            if isFetched { #expect(machine.receivedRecords(sent(forged), from: desk.id, context()).new.isEmpty) }
        }
        // A change of the account, or ten minutes, may make a difference.
        #expect(hello(desk, 3, at: 601) == [.requestNames(desk.id)])
        #expect(machine.receivedNames([name(forged)], from: desk.id, at: context(601).now).count == 1)
    }

    @Test mutating func `a key rotation changes nothing, and a removal drops the records of the device`() throws {
        _ = machine.push([try desk.copy(1, at: 1)], context())
        _ = receive(sent(try hall.copy(1, at: 1), try hall.receipt(1, of: desk, at: 1)))
        let all: Set = [desk.id, couch.id, hall.id, shed.id]
        machine.accountChanged(live: all)
        #expect(machine.store.count == 3)
        machine.accountChanged(live: all.subtracting([hall.id]))
        #expect(machine.store.count == 1)
        machine.removeAll()
        #expect(machine.store.isEmpty && machine.digest == nil)
    }

    @Test func `elements of messages are read strictly`() throws {
        let record = try desk.copy(1, at: 1)
        let element = SentKeptRecord(record, left: 5).json(record.encoded)
        func list(_ elements: [JSON]) -> [SentKeptRecord]? { SentKeptRecord.list(["records": .array(elements)]) }
        #expect(list([element])?.first?.left == 5 && list([])?.isEmpty == true)
        #expect(list(Array(repeating: element, count: 128))?.count == 128)
        #expect(list(Array(repeating: element, count: 129)) == nil)
        #expect(SentKeptRecord.list([:]) == nil && SentKeptRecord.list(["records": .string("x")]) == nil)
        guard case .object(let object) = element, let text = object["copy"] else { return }
        let wrong: [JSONObject] = [
            [:], ["copy": text], ["left": .integer(5)], ["copy": text, "left": .integer(-1)],
            ["copy": text, "left": .string("5")], ["copy": text, "left": .real(5)],
            ["list": text, "left": .integer(5)],
            ["receipt": text, "left": .integer(5)], ["copy": text, "list": text, "left": .integer(5)],
            ["copy": .string("%%"), "left": .integer(5)], ["copy": .string(""), "left": .integer(5)],
            ["copy": .integer(1), "left": .integer(5)], ["other": text, "left": .integer(5)],
        ]
        for object in wrong { #expect(list([element, .object(object)]) == nil, "\(object)") }
        #expect(list([.null]) == nil && list([.array([])]) == nil)
    }
}
