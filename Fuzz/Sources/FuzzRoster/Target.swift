import FuzzSupport
import HandoffAccount
import HandoffCrypto
import HandoffModel

/// Data that members and unknown devices can put into a roster: bytes of a list of statements, and
/// statements of any signer about any subject in any order.
///
/// If the first bit of the first byte is set, the rest is a list as it is received. Otherwise four
/// bytes make one genuine statement, which no mutation would find. Invariants: the order of merging
/// does not matter, and a written roster reads the same. The next bits select one of these checks,
/// because each merge takes its time.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let choice = input.byte()
    if choice & 1 == 1 {
        guard let decoded = try? StatementList.decode(input.rest) else { return 0 }
        require(StatementList.encode(decoded) == input.rest, "a list reads differently")
        guard let first = decoded.first(where: { $0.content.kind == .found }) else { return 0 }
        // Checking signatures is slow. Twenty statements are enough to find everything.
        let statements = Array(decoded.prefix(20))
        guard let roster = try? Roster(founding: first) else { return 0 }
        if Cast.areGenuine(statements) { check(choice >> 1, roster, statements) } else { refuse(roster, statements) }
    } else {
        check(choice >> 1, Cast.roster, input.pieces(of: 4).prefix(14).compactMap(Cast.statement))
    }
    return 0
}

/// Statements of which one is forged, or none of this account. All except the forged one are
/// accepted, or none, in any order.
private func refuse(_ empty: Roster, _ statements: [Statement]) {
    var forward = empty
    var backward = empty
    let isTaken = (try? forward.merge(statements)) != nil
    require(((try? backward.merge(statements.reversed())) != nil) == isTaken, "the order changes the error")
    if !isTaken { same(forward, empty) }
    same(forward, backward)
}

/// Statements with valid signatures. This checks everything that results from them, without checking signatures again.
private func check(_ choice: UInt8, _ empty: Roster, _ statements: [Statement]) {
    switch choice % 3 {
    case 0: checkOrder(empty, statements)
    case 1: checkHalves(empty, statements)
    default: checkReading(empty, statements)
    }
}

private func checkOrder(_ empty: Roster, _ statements: [Statement]) {
    guard let forward = merge(empty, statements) else { return }
    guard let backward = merge(empty, statements.reversed()) else { fatalError("the order changes the error") }
    same(forward, backward)
    require(
        forward.view.live.isDisjoint(with: forward.view.removed.compactMap { DeviceID(bytes: $0.bytes) }),
        "a removed device is live")
}

/// Two devices that received different halves, and then the other's half.
private func checkHalves(_ empty: Roster, _ statements: [Statement]) {
    let half = statements.count / 2
    guard let first = merge(empty, Array(statements.prefix(half))),
        let second = merge(empty, Array(statements.dropFirst(half)))
    else { return }
    var one = first
    var two = second
    require((try? one.merge(second)) != nil && (try? two.merge(first)) != nil, "rosters of one account do not merge")
    same(one, two)
    // Merging again changes nothing.
    let digest = one.digest
    require((try? one.merge(second))?.hasChanged == false && one.digest == digest, "merging twice changes something")
}

private func checkReading(_ empty: Roster, _ statements: [Statement]) {
    guard let roster = merge(empty, statements) else { return }
    guard let read = try? Roster(decoding: roster.encoded(), isTrusted: true) else {
        fatalError("a roster cannot be read again")
    }
    same(roster, read)
}

private func merge(_ roster: Roster, _ statements: [Statement]) -> Roster? {
    var merged = roster
    return (try? merged.merge(statements, isTrusted: true)) == nil ? nil : merged
}

private func same(_ left: Roster, _ right: Roster) {
    require(left.digest == right.digest, "the order of merging changes the digest")
    require(left.view == right.view, "the order of merging changes the view")
}
