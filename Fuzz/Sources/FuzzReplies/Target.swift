import FuzzSupport
import HandoffControl
import HandoffJSON
import HandoffModel

/// Replies of a daemon to a client: each value that a client reads, and replies to several calls in
/// pieces of any size. Also tests the server's side of a connection.
///
/// The first byte selects a value (the second byte selects which, and the rest is JSON), a client
/// or a server (the second byte is the size of the pieces). Invariants: a value reads the same
/// after it is written, and the size of the pieces does not matter.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 3 {
    case 0:
        let reader = Reply.readers[Int(input.byte()) % Reply.readers.count]
        guard let object = try? JSON(parsing: input.rest, limits: JSONLimits(bytes: 65536)).object else { return 0 }
        reader(object)
    case 1:
        let calls = input.byte()
        let size = input.byte()
        let whole = ask(calls, [input.rest])
        let cut = ask(calls, input.pieces(of: size))
        require(whole.isEqual(to: cut), "a client reads other replies when they arrive in pieces")
    default:
        let size = input.byte()
        let whole = serve([input.rest])
        let cut = serve(input.pieces(of: size))
        // A violation after calls that were read ahead also ends these.
        require(zip(whole, cut).allSatisfy(==), "a server reads other calls when they arrive in pieces")
    }
    return 0
}

/// A client's result of a stream of replies.
private struct Understood {
    var replies: [VarlinkReply] = []
    var abandoned = 0
    var end: VarlinkClientMachine.Reason?
    /// The bytes after the reply that turned the connection into a raw stream, or nil without one.
    var raw: [UInt8]?

    func isEqual(to other: Understood) -> Bool {
        replies == other.replies && abandoned == other.abandoned && end == other.end && raw == other.raw
    }
}

/// A client that has sent some calls: up to three, of which the first may have several replies, and
/// the last may be an upgrade.
private func ask(_ calls: UInt8, _ pieces: [[UInt8]]) -> Understood {
    var machine = VarlinkClientMachine()
    _ = machine.call(VarlinkCall(method: ControlMethod.watch.rawValue, parameters: [:], more: calls & 1 == 1))
    if calls & 2 == 2 { _ = machine.call(VarlinkCall(method: ControlMethod.getStatus.rawValue, parameters: [:])) }
    if calls & 4 == 4 {
        _ = machine.call(VarlinkCall(method: AppMethod.openStream.rawValue, parameters: [:], upgrade: true))
    }
    let sent = machine.outstanding
    var understood = Understood()
    for piece in pieces {
        // From the upgrade on the bytes are those of the stream.
        guard understood.raw == nil else {
            understood.raw? += piece
            continue
        }
        for action in machine.received(piece) {
            switch action {
            case .reply(_, let reply): understood.replies.append(reply)
            case .upgraded(_, let reply, let rest):
                understood.replies.append(reply)
                understood.raw = rest
            case .abandon: understood.abandoned += 1
            case .close(let reason): understood.end = reason
            case .send: require(false, "a client answers a reply")
            }
        }
        require(machine.outstanding <= sent, "there are more calls than were sent")
    }
    if understood.raw == nil {
        let end = machine.receivedEnd()
        require((understood.end == nil) == (end.last == .close(.serverEnded)), "a connection ends twice, or never")
        understood.abandoned += end.count { if case .abandon = $0 { true } else { false } }
        let last = understood.replies.count { !$0.continues }
        require(last + understood.abandoned == sent, "a call is answered twice, or never")
    }
    return understood
}

/// A server that answers each call immediately, and the calls that it received.
private func serve(_ pieces: [[UInt8]]) -> [VarlinkCall] {
    var machine = VarlinkServerMachine()
    var served: [VarlinkCall] = []
    for piece in pieces where machine.wantsInput {
        var actions = machine.received(piece)[...]
        while let action = actions.popFirst() {
            guard case .dispatch(let call, let id) = action else { continue }
            // Bytes after a call for a stream may arrive before or after the reply, which determines their meaning.
            if call.upgrade { return served }
            served.append(call)
            actions += machine.reply(to: id, [:], continues: false)
        }
        require(machine.outstanding == 0, "a call is left without an answer")
    }
    return served
}
