import HandoffClient
import HandoffJSON
import HandoffModel

// Failures of the commands that change the members of the account.
extension CommandFailure {
    /// Pairing failed. Adds advice to the daemon's reason.
    /// - Parameter joining: true on the new device.
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
        // The stored part of the change remains; a second attempt completes it.
        self.init(
            .failed, refusal.kind, refusal.message,
            advice: ["this device has not left completely: fix the problem, then run handoffctl account leave again"],
            details: refusal.parameters)
    }

    private static func joiningAdvice(_ reason: String) -> [String] {
        switch reason {
        case "codeUsed", "windowClosed": ["get a new code on the other device with: handoffctl pair"]
        case "busy": ["run handoffctl join again in a moment"]
        case "declined": ["if that was a mistake, run handoffctl pair there again"]
        case "nobodyThere":
            [
                "run handoffctl pair on a device of the account, in the same network",
                "or pass the address that it shows: handoffctl join --peer HOST:PORT",
            ]
        case "unreachable":
            ["check the address that handoffctl pair shows there, and the firewalls of both devices"]
        case "noNetwork": ["connect this device to the network of the other one"]
        case "untrusted":
            [
                "the device that answered does not know the code, so it is not the one that showed it",
                "get a new code there, and pass the address that it shows: handoffctl join --peer HOST:PORT",
            ]
        case "versionsDiffer": ["install the same version of handoff on both devices"]
        case "alreadyMember": [leaveFirst]
        case "removed":
            ["a removed device can rejoin only with a new identity; get one with: handoffctl account leave"]
        case "accountFull": ["remove a device that is no longer used with: handoffctl device remove DEVICE"]
        default: []
        }
    }

    private static func invitingAdvice(_ reason: String) -> [String] {
        switch reason {
        case "windowClosed", "codeUsed", "cancelled", "failed": ["open a new window with: handoffctl pair"]
        case "noNetwork": ["connect this device to a network, or use a file: see handoffctl help account export"]
        case "alreadyMember": ["the other device must first leave its account with: handoffctl account leave"]
        case "removed":
            [
                "a removed device can rejoin only with a new identity",
                "it gets one with: handoffctl account leave",
            ]
        case "accountFull": ["remove a device that is no longer used with: handoffctl device remove DEVICE"]
        case "versionsDiffer": ["install the same version of handoff on both devices"]
        default: []
        }
    }

    /// A confirmation is needed, but there is no terminal.
    static func confirmationImpossible(_ question: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "cannot ask \(question): standard input is not a terminal",
            advice: ["confirm with --yes"])
    }

    /// The terminal cannot be read.
    static func noAnswer(why: String) -> CommandFailure {
        CommandFailure(.failed, "NoAnswer", "cannot read from the terminal: \(why)")
    }

    /// The user answered no.
    static func notConfirmed() -> CommandFailure {
        CommandFailure(.failed, "NotConfirmed", "nothing was changed")
    }

    /// There is only a link, which is not written where a log could keep it.
    static func linkOnly() -> CommandFailure {
        CommandFailure(
            .failed, "PairingFailed", "there are no digits, because too many wrong codes were tried recently",
            advice: ["run handoffctl pair on a terminal, which shows a link, or with --json"])
    }

    /// No device joined before the user's timeout.
    static func noDeviceInTime() -> CommandFailure {
        CommandFailure(
            .failed, "PairingFailed", "no device joined in time", advice: invitingAdvice("windowClosed"),
            details: ["reason": "windowClosed"])
    }

    /// The input is neither digits nor a link. The text is not included, because it may be almost
    /// correct.
    static func noCode(isEmpty: Bool) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage",
            isEmpty
                ? "no code on standard input"
                : "standard input does not contain a code (\(Limits.pairingCodeDigits) digits or a link)",
            advice: ["see: handoffctl help join"])
    }

    /// Neither a device nor an offer matches.
    static func noSuchSubject(_ text: String) -> CommandFailure {
        CommandFailure(
            .failed, "NoSuchDevice",
            "no device is named '\(text)', and no id of a device or offered activity begins with it",
            advice: ["list them with: handoffctl devices", "and with: handoffctl list"],
            details: ["identifier": .string(text)])
    }

    /// The command applies only to other devices.
    static func isThisDevice(_ text: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "'\(text)' is this device",
            advice: [
                "diagnose it with: handoffctl doctor", "list what others see of it with: handoffctl list --mine",
            ])
    }

    /// The id prefix matches several activities.
    static func ambiguousActivity(_ text: String, candidates: [String]) -> CommandFailure {
        CommandFailure(
            .failed, "AmbiguousIdentifier", "'\(text)' matches several activities",
            advice: ["it matches: \(candidates.joined(separator: ", "))"], details: ["identifier": .string(text)])
    }

    /// No device of the account has this name or id.
    static func noSuchDevice(_ text: String) -> CommandFailure {
        CommandFailure(
            .failed, "NoSuchDevice", "no device is named '\(text)' or has an id that begins with it",
            advice: ["list them with: handoffctl devices"], details: ["identifier": .string(text)])
    }

    /// The name or id prefix matches several devices.
    static func ambiguousDevice(_ text: String, candidates: [String]) -> CommandFailure {
        CommandFailure(
            .failed, "AmbiguousIdentifier", "'\(text)' matches several devices",
            advice: ["it matches: \(candidates.joined(separator: ", "))", "use more digits of the id"],
            details: ["identifier": .string(text), "candidates": .array(candidates.map(JSON.string))])
    }

    /// A device cannot remove itself; it leaves instead.
    static func removesItself() -> CommandFailure {
        CommandFailure(
            .failed, "AccountRefused", "a device cannot remove itself",
            advice: ["leave the account with: handoffctl account leave"])
    }
}
