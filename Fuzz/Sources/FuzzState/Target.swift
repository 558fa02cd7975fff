import FuzzSupport
import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffModel
import HandoffState
import LoopIO

/// The files of the state folder that users may edit, and that a crash may truncate: static peers,
/// disabled apps, switches, the administrator's policy, and the log. The first byte selects one.
///
/// Invariants: the data read is the same after it was written, and a truncated file is refused or
/// contains less, never more.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 5 {
    case 0: peers(input.rest)
    case 1: apps(input.rest)
    case 2: switches(&input)
    case 3: policy(&input)
    default: history(&input)
    }
    return 0
}

private func peers(_ bytes: [UInt8]) {
    guard let peers = try? PeersFile(decoding: bytes) else { return }
    require(peers.encoded() == bytes, "the lines of a user are not kept")
    require((try? PeersFile(decoding: peers.encoded())) == peers, "the peers read differently")
    let addresses = peers.addresses
    for address in addresses.prefix(4) {
        require(peers.adding(address) == peers, "an existing address is added")
        let fewer = peers.removing(address)
        require(fewer.addresses == addresses.filter { $0 != address }, "the wrong address is removed")
        let again = try? PeersFile(decoding: fewer.adding(address).encoded())
        require(again?.addresses == fewer.addresses + [address], "an added address reads differently")
    }
}

private func apps(_ bytes: [UInt8]) {
    guard let apps = try? AppSwitches(decoding: bytes) else { return }
    guard let written = apps.encoded() else { return }
    require((try? AppSwitches(decoding: written)) == apps, "the apps read differently")
    require(written.count <= bytes.count, "the file grows by being read")
}

/// Two bytes are the time at which the file is read. A switch that is off until a time is on after
/// that time, and not later than its whole duration from now.
private func switches(_ input: inout Input) {
    let hours = UInt64(input.byte()) << 8 | UInt64(input.byte())
    guard let switches = try? Switches(decoding: input.rest) else { return }
    require((try? Switches(decoding: switches.encoded())) == switches, "the switches read differently")
    let start = SwitchMoment(
        unixSeconds: 1_700_000_000 &+ hours * 3600, instant: MonotonicInstant(nanoseconds: 5_000_000_000))
    var now = switches
    _ = now.review(at: start)
    for (place, off) in switches.entries {
        let isOver = off.until.map { $0 <= max(start.unixSeconds, off.since) } ?? false
        require((now.off(place) == nil) == isOver, "a switch turns on too early or too late")
    }
    require(now.review(at: start) == false, "a second check changes something")
    if let wait = now.wait(at: start) { require(wait >= .zero && wait <= .seconds(30), "the next check is too late") }
    // Also if the wall clock stands still, or was set back to its start.
    let year = Duration.seconds(Switches.maxSeconds)
    let end = SwitchMoment(unixSeconds: 0, instant: start.instant.advanced(by: year))
    _ = now.review(at: end)
    require(now.entries.allSatisfy { $0.off.until == nil }, "a switch with an end is off for more than a year")
}

/// A second file never allows what the first one forbids. The first byte is the position of the split between them.
private func policy(_ input: inout Input) {
    let share = Int(input.byte())
    let bytes = input.rest
    let cut = bytes.count * share / 256
    var policy = Policy()
    do {
        try PolicyLoader.add(Array(bytes.prefix(cut)), path: "f", to: &policy)
        let before = policy
        try PolicyLoader.add(Array(bytes.dropFirst(cut)), path: "g", to: &policy)
        for direction in SwitchDirection.allCases {
            guard let place = before.forbids(direction) else { continue }
            require(policy.forbids(direction) == place, "a later file changes what an earlier one forbids")
        }
        for app in before.forbiddenApps { require(policy.forbids(app: app) != nil, "a later file allows an app") }
        if let type = ActivityType("com.example.editing"), before.forbids(type) != nil {
            require(policy.forbids(type) == before.forbids(type), "a later file allows a type")
        }
        var again = before
        try PolicyLoader.add(Array(bytes.dropFirst(cut)), path: "g", to: &again)
        require(again == policy, "the same files have another result")
    } catch {
        require(error.description.hasPrefix("f:") || error.description.hasPrefix("g:"), "an error without its position")
    }
}

/// A page has entries with increasing numbers after the requested one, and the pages together
/// contain all entries. The first two bytes are the number.
private func history(_ input: inout Input) {
    let first = Int(input.byte()) << 8 | Int(input.byte())
    let lines = input.rest
    let page = HistoryFile.page(after: first, of: [lines])
    require(page.entries.count <= HistoryFile.pageSize, "a page is too long")
    require(page.entries.allSatisfy { $0.number > first }, "a page contains earlier entries")
    require(page.entries.count == HistoryFile.pageSize || !page.hasMore, "a page that is not full is not the last")
    for entry in page.entries {
        let line = JSON.object(entry.json).encoded() + [UInt8(ascii: "\n")]
        guard entry.number > .min else { continue }
        let read = HistoryFile.page(after: entry.number - 1, of: [line]).entries
        // An entry written by Handoff fits. An entry from another writer may be longer when Handoff writes it.
        require(read == [entry] || line.count > 8192, "an entry reads differently")
    }
    // Entries skipped by a quick check are also skipped when they are read.
    let all = HistoryFile.page(after: .min, of: [lines])
    if !all.hasMore { require(all.entries.filter { $0.number > first } == page.entries, "a page lacks an entry") }
    // A crash may truncate the line that is being written.
    guard let last = page.entries.last else { return }
    let line = JSON.object(last.json).encoded()
    let cut = lines + [UInt8(ascii: "\n")] + line.prefix(line.count / 2)
    require(HistoryFile.page(after: first, of: [cut]) == page, "half a line is an entry")
}
