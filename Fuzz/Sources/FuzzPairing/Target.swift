import FuzzSupport
import HandoffAccount
import HandoffCrypto
import HandoffPairing

/// Untrusted data to either side of a pairing session, and text that a user pastes or types.
///
/// The first byte selects the target. The second is the progress of the session (low four bits)
/// and, by its highest bit, whether the input is sealed as the next frame, which no mutation could
/// do. The third is the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let choice = input.byte() % 5
    switch choice {
    case 0, 1:
        let state = input.byte()
        let size = input.byte()
        let number = Int(state & 0x0F) % Rehearsal.moments.count
        let moment = Rehearsal.moments[number]
        let bytes = state & 0x80 == 0 ? input.rest : Rehearsal.sealed(input.rest, number, isToInviter: choice == 0)
        let pieces = Input(bytes: bytes).pieces(of: size)
        if choice == 0 { play(moment.inviter, pieces) } else { play(moment.joiner, pieces) }
    case 2:
        let kinds = PairingFrameKind.allCases
        let mask = Int(input.byte()) << 8 | Int(input.byte())
        let allowed = Set(kinds.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element))
        decode(allowed, input.pieces(of: input.byte()))
    case 3:
        guard let text = String(validating: input.rest, as: UTF8.self), let link = PairingLink(text) else { return 0 }
        require(PairingLink(link.text) == link, "a link reads differently")
        require(link.text.utf8.count <= PairingLink.maxText, "a link is too long")
    default:
        let body = input.rest
        if let refusal = PairingRefusal(body: body) {
            require(PairingRefusal(body: refusal.body) == refusal, "a refusal reads differently")
        }
        guard let text = String(validating: body, as: UTF8.self) else { return 0 }
        require((1...64).contains(PairingIdentity.fitting(text).utf8.count), "a name does not fit")
        guard let code = PairingCode(text) else { return 0 }
        // Grouped as it is shown.
        let half = code.digits.count / 2
        let shown = "\(code.digits.prefix(half)) \(code.digits.dropFirst(half))"
        require(PairingCode(shown) == code, "a code reads differently")
    }
    return 0
}

private func decode(_ kinds: Set<PairingFrameKind>, _ pieces: [[UInt8]]) {
    var decoder = PairingFrameDecoder(kinds: kinds)
    for piece in pieces {
        decoder.append(piece)
        do {
            while let frame = try decoder.next() {
                require(kinds.contains(frame.kind), "a kind that is not allowed")
                require(frame.kind.bodyCount.contains(frame.body.count), "a length that is not allowed")
            }
        } catch {
            return
        }
    }
}

private func play(_ start: InviterSession, _ pieces: [[UInt8]]) {
    var session = start
    var ends = 0
    for piece in pieces {
        let wasEnded = session.isEnded
        var actions = session.received(piece)
        require(!wasEnded || actions.isEmpty, "an ended session acts")
        if actions.contains(.guess) { actions += session.checkGuess() }
        if actions.contains(.wrongGuess) { actions += session.refuse(.wrongCode) }
        for case .ended in actions { ends += 1 }
    }
    require(ends <= 1, "a session ends twice")
}

private func play(_ start: JoinerSession, _ pieces: [[UInt8]]) {
    var session = start
    var ends = 0
    for piece in pieces {
        let wasEnded = session.isEnded
        let actions = session.received(piece)
        require(!wasEnded || actions.isEmpty, "an ended session acts")
        for action in actions {
            switch action {
            case .needsPassword: _ = session.use(Rehearsal.password)
            case .account(let account): _ = try? Roster(decoding: account.statements)
            case .ended: ends += 1
            case .send, .inviter: break
            }
        }
    }
    require(ends <= 1, "a session ends twice")
}
