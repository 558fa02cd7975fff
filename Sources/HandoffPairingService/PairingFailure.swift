import HandoffControl
package import HandoffControlServer
import HandoffJSON
import HandoffPairing

/// Why a pairing came to nothing, in words for people: what happened, and what to do next. All wording of pairing is here,
/// for both sides.
package struct PairingFailure: Error, Equatable, Sendable {
    /// The stable words of the control interface.
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

    /// What programs go by.
    package let reason: Reason
    /// What people read: a fragment without a full stop at its end.
    package let message: String

    private init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }
}

extension PairingFailure {
    // MARK: - On the joining device

    /// The inviting device says that the code is wrong.
    package static let wrongCode = PairingFailure(
        .wrongCode, "the code is wrong; look at it again on the inviting device, and join once more")
    /// The digits end with five wrong guesses.
    static let codeUsed = PairingFailure(
        .codeUsed,
        "the code was tried wrongly too often, and is worth nothing any more: someone else on this network may be trying;"
            + " use the link that the inviting device shows, or open a new window there")
    /// The inviting device's window is over.
    static let windowClosed = PairingFailure(
        .windowClosed, "the window on the inviting device has closed; open a new one with handoffctl pair")
    /// The inviting device had no time for this one until the end.
    static let busy = PairingFailure(
        .busy, "the inviting device is busy with others; wait a moment and join once more, or use the link")
    /// The user of the inviting device said no.
    static let declined = PairingFailure(.declined, "the inviting device did not let this one in")
    /// The other side gave up.
    static let cancelledThere = PairingFailure(
        .cancelled,
        "the pairing was cancelled on the inviting device; open a new window with handoffctl pair there, or on another device"
            + " of the account")
    /// Nobody invites on this network.
    static let nobodyThere = PairingFailure(
        .nobodyThere,
        "no device on this network invites another one")
    /// Nobody answers at the addresses.
    static func unreachable(_ places: [String]) -> PairingFailure {
        PairingFailure(
            .unreachable,
            "nobody answers at \(places.joined(separator: ", ")); check that handoffctl pair still waits there, that both"
                + " devices are on one network, and that no firewall is between them")
    }
    /// Those who answer at the addresses end it before they prove anything, to the last.
    static func brokenOff(_ places: [String]) -> PairingFailure {
        PairingFailure(
            .unreachable,
            "whoever answers at \(places.joined(separator: ", ")) breaks off each time; someone else on this network may be in"
                + " the way: use the link or the address that the inviting device shows")
    }
    /// This machine is on no network.
    static let noNetwork = PairingFailure(
        .noNetwork, "this device is on no network; connect it, and join once more")
    /// Whoever answered does not know the code.
    static let untrusted = PairingFailure(
        .untrusted,
        "whoever answered does not know the code; someone else on this network may be listening: open a new window on the"
            + " inviting device, and use its new code")
    /// The two sides speak no common version.
    static let versionsDiffer = PairingFailure(
        .versionsDiffer, "the inviting device has another version of handoff; bring both up to date")
    /// The inviting device knows this one as removed.
    static let removed = PairingFailure(
        .removed,
        "this device was removed from that account, which is for ever; run handoffctl account leave, which gives it a new"
            + " identity, and join once more")
    /// The account takes no more devices.
    static let accountFull = PairingFailure(
        .accountFull, "the account has no room for another device; remove one that is no longer used")
    /// The inviting device failed.
    static let failedThere = PairingFailure(
        .failed, "the inviting device could not go on; its log says why. Open a new window there, and join once more")
    /// What the inviting device sent makes no sense.
    static func failedHere(_ detail: String) -> PairingFailure {
        PairingFailure(
            .failed, "the pairing failed: \(detail); open a new window on the inviting device, and try again")
    }
    /// What was given is no link.
    static let badLink = PairingFailure(
        .failed, "this is no pairing link, or only a part of it; copy all of it from the inviting device")
    /// What was given is no code.
    static let badCode = PairingFailure(
        .wrongCode, "a code has eight digits; look at it again on the inviting device")
    /// Another command of the user joins already.
    package static let joining = PairingFailure(.busy, "this device is joining already; end that first")
    /// This device got into an account meanwhile.
    package static let memberMeanwhile = PairingFailure(.alreadyMember, "this device is in an account already")
    /// The daemon ends.
    package static let stopping = PairingFailure(.cancelled, "the daemon is stopping; try again when it runs")

    // MARK: - On the inviting device

    /// One window at a time.
    package static let windowOpen = PairingFailure(.busy, "a pairing window is open already; close that one first")
    /// Nobody came, or nobody was let in, in time.
    static let windowRanOut = PairingFailure(
        .windowClosed, "the window has closed, and no device has joined; open a new one")
    /// The user's program is gone.
    package static let cancelledHere = PairingFailure(.cancelled, "the pairing was cancelled")
    /// The user said no.
    static let declinedHere = PairingFailure(.declined, "the device was not let in, and the window is closed")
    /// The account changed under the window.
    package static let noMemberAnyMore = PairingFailure(
        .cancelled, "this device is no longer in the account, so the window is closed")
    /// The joiner was in an account.
    static let alreadyMember = PairingFailure(
        .alreadyMember, "the other device is in an account already; it has to leave that one first")
    /// The joiner's key was removed from this account.
    static func removedDevice(_ name: String) -> PairingFailure {
        PairingFailure(
            .removed,
            "\(name) was removed from this account, which is for ever; run handoffctl account leave there, which gives it"
                + " a new identity, and pair again")
    }
    /// The account takes no more devices.
    static let fullHere = PairingFailure(
        .accountFull, "the account has no room for another device; remove one that is no longer used, and pair again")
    /// The window could not be opened.
    package static func cannotOpen(_ detail: String) -> PairingFailure {
        PairingFailure(.failed, "the window cannot be opened: \(detail)")
    }
    /// The joiner went away while the account was handed over.
    static func unfinished(_ name: String) -> PairingFailure {
        PairingFailure(
            .failed,
            "\(name) is in the account now, but did not say that it has stored it; pair it again, or remove it")
    }
    /// Something failed here.
    static func inviterFailed(_ detail: String) -> PairingFailure {
        PairingFailure(.failed, "the pairing failed: \(detail)")
    }

    /// What the other device is told when this ends the window, or the attempt to join.
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
    package var callError: CallError {
        CallError(
            name: ControlErrorName.pairingFailed.rawValue,
            parameters: ["reason": .string(reason.rawValue), "message": .string(message)])
    }
}

extension PairingFailure {
    /// One of each end on the joining device, for tests of the words.
    package static let ofJoiner: [PairingFailure] = [
        .wrongCode, .codeUsed, .windowClosed, .busy, .declined, .cancelledThere, .nobodyThere,
        .unreachable(["192.0.2.1:24863"]), .brokenOff(["192.0.2.1:24863"]), .noNetwork, .untrusted, .versionsDiffer,
        .removed, .accountFull,
        .failedThere,
        .failedHere("the disk is full"), .badLink, .badCode, .joining, .memberMeanwhile, .stopping,
    ]
    /// The same for the inviting device.
    package static let ofInviter: [PairingFailure] = [
        .windowOpen, .windowRanOut, .cancelledHere, .declinedHere, .noMemberAnyMore, .alreadyMember,
        .removedDevice("laptop"), .fullHere, .cannotOpen("no memory"), .unfinished("laptop"),
        .inviterFailed("no memory"),
    ]
}
