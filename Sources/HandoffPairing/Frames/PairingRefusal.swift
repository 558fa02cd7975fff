internal import HandoffProtocol

/// Why a side ends a session, as sent to the peer. The numbers are sent over the network and never
/// change.
package enum PairingRefusal: Sendable, Hashable {
    /// The joiner does not know the code, so this was a guess.
    case wrongCode
    /// There were too many wrong guesses, so the digits are no longer accepted.
    case codeEnded
    /// The window is closed, or its link was used.
    case windowClosed
    /// There was a wrong guess recently, or the user is being asked about another device. Retry
    /// later.
    case busy(seconds: UInt16)
    /// The user declined.
    case declined
    /// The user cancelled.
    case cancelled
    /// The joiner is already in an account.
    case alreadyMember
    /// The joiner's key was permanently removed from this account.
    case removed
    /// The account has its maximum number of devices.
    case accountFull
    /// Another error, recorded only in the log of that side.
    case failed

    /// The number sent over the network.
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

    /// The body of the frame: the number, and for ``busy(seconds:)`` also the seconds as u16.
    package var body: [UInt8] {
        var writer = ByteWriter(capacity: 3)
        writer.u8(code)
        if case .busy(let seconds) = self { writer.u16(seconds) }
        return writer.bytes
    }

    /// Decodes a body, or returns `nil` for a wrong length. Unknown numbers become ``failed``.
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
