import FuzzSupport
import HandoffAccount
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol

/// The records of kept activities that a member sends: the bytes of one, the elements of a message, and genuine records in any
/// order in a store, and a part of an item.
///
/// The first byte selects one of these. Invariants: decoded bytes encode to the same, the store respects its limits and finds
/// each record by its name, and the records of a removed device are gone.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 6 {
    case 0:
        guard let copy = try? KeptCopy(decoding: input.rest) else { return 0 }
        require(copy.encoded == input.rest, "a copy reads differently")
        require(copy.end - copy.stamp.time <= KeptLimits.lifetime, "a copy lives too long")
    case 1:
        guard let list = try? KeptList(decoding: input.rest) else { return 0 }
        require(list.encoded == input.rest, "a list reads differently")
        require(list.activities.count <= KeptLimits.maxCopies, "a list is too long")
    case 2:
        guard let receipt = try? KeptReceipt(decoding: input.rest) else { return 0 }
        require(receipt.encoded == input.rest, "a receipt reads differently")
    case 3: readMessage(input.rest)
    case 5: readPart(input.rest)
    default: fillStore(input.pieces(of: 4).prefix(24))
    }
    return 0
}

private func readPart(_ bytes: [UInt8]) {
    _ = KeptItemContent(first: bytes)
    guard let part = KeptPart(bytes) else { return }
    require(KeptPart.isPart(bytes), "a part has another form")
    require((0..<part.count).contains(part.number) && part.count <= KeptLimits.maxCopies, "a part has another number")
    require(part.belongs(with: part), "a part does not belong to its item")
    // No member has sealed it.
    require(Cast.seal?.open(bytes) == nil, "a forged part opens")
}

private func readMessage(_ bytes: [UInt8]) {
    guard let object = try? JSON(parsing: bytes, limits: JSONLimits(bytes: 8192)).object,
        let sent = SentKeptRecord.list(object)
    else { return }
    require(sent.count <= KeptSyncMachine.maxRecords, "a message has too many records")
    let again = SentKeptRecord.list(["records": .array(sent.map { $0.json($0.record.encoded) })])
    require(again?.map(\.record.encoded) == sent.map(\.record.encoded), "an element reads differently")
    require(again?.map(\.left) == sent.map(\.left), "the remaining time reads differently")
    // Forged records are not stored.
    var store = KeptStore()
    for each in sent {
        require(store.merge(each.record, left: each.left, Cast.context(0)) != .stored, "a forged record is stored")
    }
}

private func fillStore(_ events: some Sequence<[UInt8]>) {
    var store = KeptStore()
    var seconds: UInt64 = 0
    for event in events where event.count == 4 {
        switch event[0] % 8 {
        case 6:
            seconds += UInt64(event[1]) << (event[2] % 12)
            store.expire(at: Cast.context(seconds).now)
        case 7:
            let live = Set(Cast.ids.enumerated().filter { event[1] >> $0.offset & 1 == 1 }.map(\.element))
            store.retain(live)
            require(store.activities.allSatisfy { live.contains($0.origin) }, "a removed device's copy is kept")
            require(
                store.allReceipts.allSatisfy { live.contains($0.origin) && live.contains($0.device) },
                "a removed device's receipt is kept")
        default:
            guard let record = Cast.record(event) else { continue }
            let outcome = store.merge(record, left: UInt64(event[2]) << (event[3] % 12), Cast.context(seconds))
            if outcome == .stored {
                require(store.contains(KeptName(of: record.encoded)), "a stored record is missing")
            }
        }
        check(store, at: seconds)
    }
}

private func check(_ store: KeptStore, at seconds: UInt64) {
    let now = Cast.context(seconds).now
    require(store.isEmpty == (store.nextDeadline == nil), "a record does not end")
    require(store.allNames.count == store.count, "a name occurs twice")
    for name in store.allNames {
        guard let sent = store.record(name, at: now) else { continue }
        require(KeptName(of: sent.record.encoded) == name, "another record has this name")
        require(sent.left <= KeptLimits.lifetime, "a record lives too long")
    }
    for origin in Cast.ids {
        let own = store.activities.filter { $0.origin == origin }
        require(own.count <= KeptLimits.maxCopies, "an origin has too many copies")
        for kept in own {
            guard let list = store.list(of: origin) else { continue }
            require(!list.withdraws(kept.summary.id, kept.stamp), "a withdrawn copy is kept")
        }
    }
}
