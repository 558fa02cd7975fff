import HandoffClient
import HandoffJSON

// Failures of the commands that change who belongs to the account.
extension CommandFailure {
    /// Pairing came to nothing: the daemon says why, and this what to do next.
    /// - Parameter joining: whether this is the new device.
    init(_ error: ClientError, joining: Bool) {
        guard case .refused(let refusal) = error, ["PairingFailed", "AccountExists"].contains(refusal.kind) else {
            self.init(error)
            return
        }
        let isMember = refusal.kind == "AccountExists"
        let reason = isMember ? "alreadyMember" : refusal.parameters["reason"]?.string ?? ""
        self.init(
            .failed, refusal.kind, refusal.message,
            advice: joining ? Self.joiningAdvice(reason) : Self.invitingAdvice(reason), details: refusal.parameters)
    }

    /// Leaving the account failed.
    init(leaving error: ClientError) {
        guard case .refused(let refusal) = error, refusal.kind == "StorageFailed" else {
            self.init(error)
            return
        }
        // What was stored before it failed stays: the second time does the rest.
        self.init(
            .failed, refusal.kind, refusal.message,
            advice: ["this device has not quite left: once that is mended, run handoffctl account leave again"],
            details: refusal.parameters)
    }

    private static func joiningAdvice(_ reason: String) -> [String] {
        switch reason {
        case "codeUsed", "windowClosed": ["ask for a new code on the other device, with: handoffctl pair"]
        case "busy": ["run handoffctl join again in a moment"]
        case "declined": ["if that was a mistake, run handoffctl pair there again"]
        case "nobodyThere":
            [
                "run handoffctl pair on a device of the account, in the same network",
                "or name the address that it shows: handoffctl join --peer HOST:PORT",
            ]
        case "unreachable":
            ["compare the address with what handoffctl pair shows there, and look at the firewall of both devices"]
        case "noNetwork": ["connect this device to the network of the other one"]
        case "untrusted":
            [
                "what answered does not know the code: it is not the device that showed it",
                "ask for a new code there, and name the address that it shows: handoffctl join --peer HOST:PORT",
            ]
        case "versionsDiffer": ["install the same version of handoff on both devices"]
        case "alreadyMember": [leaveFirst]
        case "removed":
            ["a device that was removed comes back under a new identity only; get one with: handoffctl account leave"]
        case "accountFull": ["remove a device that is not used any more, with: handoffctl device remove DEVICE"]
        default: []
        }
    }

    private static func invitingAdvice(_ reason: String) -> [String] {
        switch reason {
        case "windowClosed", "codeUsed", "cancelled", "failed": ["open a new window with: handoffctl pair"]
        case "noNetwork": ["connect this device to a network, or use a file: see handoffctl help account export"]
        case "alreadyMember": ["the other device has to leave its account first, with: handoffctl account leave"]
        case "removed":
            [
                "a device that was removed comes back under a new identity only",
                "it gets one with: handoffctl account leave",
            ]
        case "accountFull": ["remove a device that is not used any more, with: handoffctl device remove DEVICE"]
        case "versionsDiffer": ["install the same version of handoff on both devices"]
        default: []
        }
    }

    /// There is nobody to ask, and no answer was given before.
    static func nobodyToAsk(_ question: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "standard input is no terminal, so that nobody can be asked \(question)",
            advice: ["answer beforehand, with --yes"])
    }

    /// The terminal did not give an answer.
    static func noAnswer(why: String) -> CommandFailure {
        CommandFailure(.failed, "NoAnswer", "cannot ask at the terminal: \(why)")
    }

    /// The user said no.
    static func notConfirmed() -> CommandFailure {
        CommandFailure(.failed, "NotConfirmed", "nothing was changed")
    }

    /// Only the link opens the window, and it is not shown where a log could keep it.
    static func linkOnly() -> CommandFailure {
        CommandFailure(
            .failed, "PairingFailed", "too many wrong codes were tried of late, so that there are no digits",
            advice: ["run handoffctl pair on a terminal, which shows a link, or with --json"])
    }

    /// Nobody came before the time that the user set.
    static func noDeviceInTime() -> CommandFailure {
        CommandFailure(
            .failed, "PairingFailed", "no device joined in time", advice: invitingAdvice("windowClosed"),
            details: ["reason": "windowClosed"])
    }

    /// What was typed or sent is neither digits nor a link. The text itself is left out: it may be nearly right.
    static func noCode(isEmpty: Bool) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage",
            isEmpty
                ? "there is no code on standard input" : "what is on standard input is no code: 8 digits, or a link",
            advice: ["see: handoffctl help join"])
    }

    /// Neither a device nor an offer is meant.
    static func noSuchSubject(_ text: String) -> CommandFailure {
        CommandFailure(
            .failed, "NoSuchDevice",
            "no device is called '\(text)', and neither a device nor an activity on offer has an id that begins so",
            advice: ["see them with: handoffctl devices", "and with: handoffctl list"],
            details: ["identifier": .string(text)])
    }

    /// What is asked about another device was asked about this one.
    static func isThisDevice(_ text: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "'\(text)' is this device",
            advice: [
                "see what stops it with: handoffctl doctor", "and what others see of it with: handoffctl list --mine",
            ])
    }

    /// The beginning of an id fits several activities.
    static func ambiguousActivity(_ text: String, candidates: [String]) -> CommandFailure {
        CommandFailure(
            .failed, "AmbiguousIdentifier", "'\(text)' fits several activities",
            advice: ["it fits: \(candidates.joined(separator: ", "))"], details: ["identifier": .string(text)])
    }

    /// Nothing of this name or id is in the account.
    static func noSuchDevice(_ text: String) -> CommandFailure {
        CommandFailure(
            .failed, "NoSuchDevice", "no device is called '\(text)' or has an id that begins like this",
            advice: ["see them with: handoffctl devices"], details: ["identifier": .string(text)])
    }

    /// The word fits several devices.
    static func ambiguousDevice(_ text: String, candidates: [String]) -> CommandFailure {
        CommandFailure(
            .failed, "AmbiguousIdentifier", "'\(text)' fits several devices",
            advice: ["it fits: \(candidates.joined(separator: ", "))", "name one by more digits of its id"],
            details: ["identifier": .string(text), "candidates": .array(candidates.map(JSON.string))])
    }

    /// A device does not remove itself: it leaves.
    static func removesItself() -> CommandFailure {
        CommandFailure(
            .failed, "AccountRefused", "this is the device itself",
            advice: ["take it out of the account with: handoffctl account leave"])
    }
}
