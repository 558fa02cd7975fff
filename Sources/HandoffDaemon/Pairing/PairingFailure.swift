import HandoffControl
import HandoffJSON
import HandoffPairing

/// Why pairing failed, with a message for users: what happened, and what to do next. It contains
/// all messages of pairing, for both sides.
package struct PairingFailure: Error, Equatable, Sendable {
    /// The stable values of the control interface.
    package enum Reason: String, Sendable, CaseIterable {
        case wrongCode
        case codeUsed
        case windowClosed
        case busy
        case declined
        case cancelled
        case nobodyThere
        case unreachable
        case noNetwork
        case untrusted
        case versionsDiffer
        case alreadyMember
        case removed
        case accountFull
        case failed
    }

    /// The reason for programs.
    package let reason: Reason
    /// The message for users: a fragment without a final full stop.
    package let message: String

    private init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }
}

extension PairingFailure {
    // MARK: - On the joining device

    /// The inviting device rejected the code.
    package static let wrongCode = PairingFailure(
        .wrongCode, "the code is wrong; check it on the inviting device and join again")
    /// Five wrong guesses have ended the digits.
    static let codeUsed = PairingFailure(
        .codeUsed,
        "the code has expired after too many wrong attempts; another device on this network may be guessing:"
            + " use the link that the inviting device shows, or open a new window there")
    /// The inviting device's window has ended.
    static let windowClosed = PairingFailure(
        .windowClosed, "the window on the inviting device has closed; open a new one with handoffctl pair")
    /// The inviting device was busy during the whole attempt.
    static let busy = PairingFailure(
        .busy, "the inviting device is busy with other devices; wait a moment and join again, or use the link")
    /// The user of the inviting device declined.
    static let declined = PairingFailure(.declined, "the user of the inviting device declined this device")
    /// The user of the inviting device cancelled.
    static let cancelledThere = PairingFailure(
        .cancelled,
        "pairing was cancelled on the inviting device; open a new window with handoffctl pair there, or on another"
            + " device of the account")
    /// No device is inviting on this network.
    static let nobodyThere = PairingFailure(
        .nobodyThere,
        "no device on this network has a pairing window open")
    /// No device responds at the addresses.
    static func unreachable(_ places: [String]) -> PairingFailure {
        PairingFailure(
            .unreachable,
            "no device responds at \(places.joined(separator: ", ")); check that handoffctl pair is still running"
                + " there, that both devices are on the same network, and that no firewall blocks the connection")
    }
    /// The devices at the addresses respond but drop every connection before they prove anything.
    static func connectionDropped(_ places: [String]) -> PairingFailure {
        PairingFailure(
            .unreachable,
            "the device at \(places.joined(separator: ", ")) keeps dropping the connection; another host on this"
                + " network may be interfering: use the link or the address that the inviting device shows")
    }
    /// This machine is not on a network.
    static let noNetwork = PairingFailure(
        .noNetwork, "this device is not connected to a network; connect it and join again")
    /// The peer does not know the code.
    static let untrusted = PairingFailure(
        .untrusted,
        "the device that answered does not know the code; another device on this network may be impersonating the"
            + " inviter: open a new window on the inviting device, and use its new code")
    /// The two sides have no protocol version in common.
    static let versionsDiffer = PairingFailure(
        .versionsDiffer, "the inviting device has an incompatible version of handoff; update both devices")
    /// This device was removed from the inviting device's account.
    static let removed = PairingFailure(
        .removed,
        "this device was permanently removed from that account; run handoffctl account leave, which gives it a new"
            + " identity, and join again")
    /// The account is full.
    static let accountFull = PairingFailure(
        .accountFull, "the account has no room for another device; remove one that is no longer used")
    /// The inviting device reported a failure.
    static let failedThere = PairingFailure(
        .failed, "pairing failed on the inviting device; see its log. Open a new window there and join again")
    /// The attempt failed on this device, for example on invalid data from the inviter.
    static func failedHere(_ detail: String) -> PairingFailure {
        PairingFailure(
            .failed, "pairing failed: \(detail); open a new window on the inviting device and try again")
    }
    /// The text is not a valid link.
    static let badLink = PairingFailure(
        .failed, "the pairing link is invalid or incomplete; copy the whole link from the inviting device")
    /// The text is not a valid code.
    static let badCode = PairingFailure(
        .wrongCode, "a code has eight digits; check it on the inviting device")
    /// Another command of the user is already joining.
    static let joining = PairingFailure(.busy, "this device is already joining an account; cancel that first")
    /// This device has joined an account during the attempt.
    static let alreadyInAccount = PairingFailure(.alreadyMember, "this device is already in an account")
    /// The daemon is shutting down.
    static let stopping = PairingFailure(.cancelled, "the daemon is stopping; try again when it is running")

    // MARK: - On the inviting device

    /// Only one window can be open at a time.
    static let windowOpen = PairingFailure(.busy, "a pairing window is already open; close it first")
    /// No device connected, or none was admitted, in time.
    static let windowExpired = PairingFailure(
        .windowClosed, "the window has closed and no device has joined; open a new one")
    /// The user's program has exited.
    static let cancelledHere = PairingFailure(.cancelled, "pairing was cancelled")
    /// The user declined.
    static let declinedHere = PairingFailure(.declined, "you declined the device, and the window is closed")
    /// This device lost its membership while the window was open.
    static let noLongerMember = PairingFailure(
        .cancelled, "this device is no longer in the account, so the window is closed")
    /// The joiner is already in an account.
    static let alreadyMember = PairingFailure(
        .alreadyMember, "the other device is already in an account; it must leave that account first")
    /// The joiner's key was removed from this account.
    static func removedDevice(_ name: String) -> PairingFailure {
        PairingFailure(
            .removed,
            "\(name) was permanently removed from this account; run handoffctl account leave there, which gives it"
                + " a new identity, and pair again")
    }
    /// The account is full.
    static let fullHere = PairingFailure(
        .accountFull, "the account has no room for another device; remove one that is no longer used, and pair again")
    /// The window could not be opened.
    static func cannotOpen(_ detail: String) -> PairingFailure {
        PairingFailure(.failed, "cannot open the window: \(detail)")
    }
    /// The joiner disconnected while the account was being sent.
    static func unfinished(_ name: String) -> PairingFailure {
        PairingFailure(
            .failed,
            "\(name) is in the account now but has not confirmed that it stored it; pair it again, or remove it")
    }
    /// This device failed.
    static func inviterFailed(_ detail: String) -> PairingFailure {
        PairingFailure(.failed, "pairing failed: \(detail)")
    }

    /// The refusal sent to the peer when this failure ends the window or the attempt to join.
    var refusal: PairingRefusal {
        switch reason {
        case .declined: .declined
        case .cancelled: .cancelled
        case .windowClosed: .windowClosed
        case .removed: .removed
        case .accountFull: .accountFull
        case .alreadyMember: .alreadyMember
        case .wrongCode, .codeUsed, .busy, .nobodyThere, .unreachable, .noNetwork, .untrusted, .versionsDiffer, .failed:
            .failed
        }
    }

    /// The error of the control interface.
    var callError: CallError {
        CallError(
            name: ControlErrorName.pairingFailed.rawValue,
            parameters: ["reason": .string(reason.rawValue), "message": .string(message)])
    }
}

extension PairingFailure {
    /// One failure of each kind on the joining device, for tests of the messages.
    package static let ofJoiner: [PairingFailure] = [
        .wrongCode, .codeUsed, .windowClosed, .busy, .declined, .cancelledThere, .nobodyThere,
        .unreachable(["192.0.2.1:24863"]), .connectionDropped(["192.0.2.1:24863"]), .noNetwork, .untrusted,
        .versionsDiffer, .removed, .accountFull,
        .failedThere,
        .failedHere("the disk is full"), .badLink, .badCode, .joining, .alreadyInAccount, .stopping,
    ]
    /// One failure of each kind on the inviting device.
    package static let ofInviter: [PairingFailure] = [
        .windowOpen, .windowExpired, .cancelledHere, .declinedHere, .noLongerMember, .alreadyMember,
        .removedDevice("laptop"), .fullHere, .cannotOpen("no memory"), .unfinished("laptop"),
        .inviterFailed("no memory"),
    ]
}
