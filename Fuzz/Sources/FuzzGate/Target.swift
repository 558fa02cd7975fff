import FuzzSupport
import HandoffAccount
import HandoffModel
import HandoffTransport
import LoopIO

/// Unauthenticated data at the gate: bytes of one connection in pieces of any size, connections of
/// several sources that arrive, end and time out, and this device's own attempts at the gates of
/// others. The first byte selects one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 3 {
    case 0: read(&input)
    case 1: admit(&input)
    default: queue(&input)
    }
    return 0
}

/// One connection. The size of the pieces does not matter: input that is complete in one piece is
/// complete in several, at the same byte, and no byte is lost or added. The second byte is the size
/// of the pieces. With its highest bit a valid head precedes the rest, and with the next one the
/// token may be missing.
private func read(_ input: inout Input) {
    let choice = input.byte()
    if choice >= 0x80 {
        let body = Int(input.byte()) << 8 | Int(input.byte())
        let header = [0x16, 0x03, 0x01, UInt8(truncatingIfNeeded: body >> 8), UInt8(truncatingIfNeeded: body)]
        input = Input(bytes: [UInt8](repeating: 7, count: Gate.tokenCount) + header + input.rest)
    }
    let mayOmitToken = choice & 0x40 != 0
    var whole = GateBuffer(mayOmitToken: mayOmitToken)
    let expected = whole.append(input.rest)
    var cut = GateBuffer(mayOmitToken: mayOmitToken)
    var last = GateBuffer.Progress.incomplete
    var taken = 0
    for piece in input.pieces(of: choice & 0x3f) {
        last = cut.append(piece)
        taken += piece.count
        // The listener accepts or closes every connection that is not incomplete, and does not return to it.
        if last != .incomplete { break }
    }
    switch last {
    case .incomplete: require(expected == .incomplete && taken == input.bytes.count, "a connection in pieces waits")
    case .refused: require(expected == .refused, "a connection in pieces is refused")
    case .complete(let token, let clientHello):
        require(token?.count == (mayOmitToken && token == nil ? nil : Gate.tokenCount), "a token has the wrong length")
        require((token ?? []) + clientHello == Array(input.bytes.prefix(taken)), "the forwarded bytes are wrong")
        require(taken <= whole.capacity, "more bytes are kept than allowed")
        require(expected == (taken == input.bytes.count ? last : .refused), "the pieces change the result")
    }
}

/// The maximum number of steps of one input. More only take longer.
private let maxSteps = 500

/// Many connections. There are never more than the limits allow, in total and from one source. The
/// newest is always accepted. While its own source has the maximum number, one of that source is
/// closed, so that no source displaces more of others than its share.
private func admit(_ input: inout Input) {
    var limits = TransportLimits()
    limits.maxUngated = 1 + Int(input.byte() % 12)
    limits.maxUngatedPerSource = 1 + Int(input.byte() % 4)
    var table = GateTable(limits: limits)
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var open: [(id: GateTable.ID, source: IPAddress, deadline: MonotonicInstant)] = []
    for _ in 0..<maxSteps where !input.isEmpty {
        let step = input.byte()
        switch step & 3 {
        case 0, 1:
            guard let address = address(step >> 2) else { return }
            let same = open.filter { $0.source == address }
            let (id, evicted) = table.admit(from: address, now: now)
            require(!open.contains { $0.id == id }, "a name is used twice")
            if same.count >= limits.maxUngatedPerSource {
                require(evicted == same.first?.id, "a connection other than the oldest of the source is closed")
            } else if open.count >= limits.maxUngated {
                require(open.contains { $0.id == evicted }, "no connection is closed although the table is full")
            } else {
                require(evicted == nil, "a connection is closed although the table is not full")
            }
            open.removeAll { $0.id == evicted }
            open.append((id, address, now.advanced(by: limits.gateTimeout)))
        case 2:
            guard !open.isEmpty else { continue }
            let id = open.remove(at: Int(step >> 2) % open.count).id
            table.remove(id)
            table.remove(id)
        default:
            now = now.advanced(by: .milliseconds(Int(step >> 2) * 20))
            let expired = table.expire(now: now)
            require(
                expired == open.filter { $0.deadline <= now }.map(\.id), "others expire than those whose time is over")
            open.removeAll { $0.deadline <= now }
        }
        require(table.count == open.count && open.count <= limits.maxUngated, "more connections are kept than allowed")
        require(table.nextDeadline == open.first?.deadline, "the next deadline is that of another connection")
    }
}

/// This device's own attempts. Never more than the limit wait at one gate, each is admitted once
/// and in order, and none waits at a free gate.
private func queue(_ input: inout Input) {
    let perAddress = 1 + Int(input.byte() % 3)
    var slots = AddressSlots(perAddress: perAddress)
    var inside: [IPAddress: [AddressSlots.ID]] = [:]
    var waiting: [IPAddress: [AddressSlots.ID]] = [:]
    var lastID: AddressSlots.ID = 0
    for _ in 0..<maxSteps where !input.isEmpty {
        let step = input.byte()
        guard let address = address(step >> 1 & 7) else { return }
        if step & 1 == 0 {
            lastID += 1
            let isFree = inside[address, default: []].count < perAddress
            require(slots.enter(lastID, at: address) == isFree, "an attempt waits although there is room, or does not")
            if isFree {
                inside[address, default: []].append(lastID)
            } else {
                waiting[address, default: []].append(lastID)
            }
            continue
        }
        let all = inside[address, default: []] + waiting[address, default: []]
        let id = all.isEmpty ? lastID &+ 1 : all[Int(step >> 4) % all.count]
        let next = slots.leave(id, at: address)
        waiting[address]?.removeAll { $0 == id }
        let wasInside = inside[address, default: []].contains(id)
        require(
            next == (wasInside ? waiting[address]?.first : nil), "another attempt goes on than the first that waits")
        inside[address]?.removeAll { $0 == id }
        if let next {
            waiting[address]?.removeAll { $0 == next }
            inside[address, default: []].append(next)
        }
        require(slots.leave(id, at: address) == nil, "a place is released twice")
    }
}

/// IPv4 addresses, and IPv6 addresses of which two at a time are of one network.
private func address(_ number: UInt8) -> IPAddress? {
    number & 1 == 0
        ? IPAddress(bytes: [10, 0, 0, number])
        : IPAddress(bytes: [0x20, 1, 0, 0, 0, 0, 0, number >> 2, 0, 0, 0, 0, 0, 0, 0, number])
}
