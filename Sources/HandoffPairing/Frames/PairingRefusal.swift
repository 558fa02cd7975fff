internal import HandoffProtocol

/// Why a side ends a session, as it tells the other; the numbers cross the network and never change.
package enum PairingRefusal: Sendable, Hashable {
    /// The joiner does not know the code: this was a guess.
    case wrongCode
    /// Too many guesses were wrong; the digits open no more.
    case codeEnded
    /// The window is closed, or its link was used.
    case windowClosed
    /// There was a wrong guess just now, or another device is being asked about; later it may work.
    case busy(seconds: UInt16)
    /// The user does not want it.
    case declined
    /// The user gave up.
    case cancelled
    /// The joiner is in an account.
    case alreadyMember
    /// The joiner's key was removed from this account, for ever.
    case removed
    /// The account has as many devices as it can have.
    case accountFull
    /// Something else, which only the log of that side knows.
    case failed

    /// The number on the network.
    package var code: UInt8 {
        switch self {
        case .wrongCode: 1
        case .codeEnded: 2
        case .windowClosed: 3
        case .busy: 4
        case .declined: 5
        case .cancelled: 6
        case .alreadyMember: 7
        case .removed: 8
        case .accountFull: 9
        case .failed: 10
        }
    }

    /// The body of the frame: the number, and for ``busy(seconds:)`` the seconds as u16.
    package var body: [UInt8] {
        var writer = ByteWriter(capacity: 3)
        writer.u8(code)
        if case .busy(let seconds) = self { writer.u16(seconds) }
        return writer.bytes
    }

    /// Reads a body; `nil` for a wrong length. Numbers that this version does not know are read as ``failed``.
    package init?(body: [UInt8]) {
        var reader = ByteReader(body)
        guard let code = try? reader.u8() else { return nil }
        if code == 4 {
            guard let seconds = try? reader.u16() else { return nil }
            self = .busy(seconds: seconds)
        } else {
            let plain: [UInt8: PairingRefusal] = [
                1: .wrongCode, 2: .codeEnded, 3: .windowClosed, 5: .declined, 6: .cancelled, 7: .alreadyMember,
                8: .removed, 9: .accountFull,
            ]
            self = plain[code] ?? .failed
        }
        guard reader.remaining == 0 else { return nil }
    }
}
