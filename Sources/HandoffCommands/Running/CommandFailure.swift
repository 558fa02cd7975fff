package import HandoffClient
import HandoffControl
package import HandoffJSON
import HandoffModel
import HandoffTransfer
import LoopIO

/// Why a command failed, in the words and numbers that its caller gets. All wording of failures is in
/// this file and its neighbours, `CommandFailure+….swift`.
package struct CommandFailure: Error, Equatable, Sendable {
    /// How the program ends.
    package let status: ExitStatus
    /// A stable name of the kind of failure, for `--json`.
    package let name: String
    /// What was tried, on what, and why it failed: a lower-case fragment without full stop.
    package let message: String
    /// What to do next, one line each.
    package let advice: [String]
    /// Further members for `--json`: the parameters of the daemon's error.
    package let details: JSONObject

    init(
        _ status: ExitStatus, _ name: String, _ message: String, advice: [String] = [], details: JSONObject = [:]
    ) {
        self.status = status
        self.name = name
        self.message = message
        self.advice = advice
        self.details = details
    }

    /// The command line was wrong.
    package init(_ error: UsageError) {
        let topic = error.command.map { " \($0)" } ?? ""
        self.init(.wrongUsage, "WrongUsage", error.message, advice: ["see: handoffctl help\(topic)"])
    }

    /// Asking the daemon failed.
    package init(_ error: ClientError) {
        switch error {
        case .notReachable(let path, let reason):
            self.init(
                .daemonNotReachable, "DaemonNotReachable", "cannot reach the daemon at \(path): \(reason)",
                advice: reason == "\(Errno.permissionDenied)" ? Self.permissionAdvice : Self.startAdvice)
        case .foreign(let path, let user):
            self.init(
                .daemonNotReachable, "ForeignDaemon",
                "the socket \(path) is that of the user with the number \(user), who was told nothing",
                advice: [
                    "a daemon serves its own user alone: call handoffctl as that user",
                    "or see where --socket, HANDOFF_SOCKET and XDG_RUNTIME_DIR lead",
                ])
        case .lost(let path):
            self.init(
                .daemonNotReachable, "ConnectionLost", "the daemon at \(path) closed the connection",
                advice: ["if it is running, its log has the reason: journalctl --user -u handoffd"] + Self.startAdvice)
        case .badAnswer(let why):
            self.init(
                .failed, "BadAnswer", "the daemon's answer makes no sense: \(why)",
                advice: ["handoffctl and handoffd may be of different versions"])
        case .refused(let refusal):
            self.init(refusal)
        }
    }

    private init(_ refusal: ServiceRefusal) {
        let status: ExitStatus = refusal.kind == "NothingToContinue" ? .nothingToContinue : .failed
        var advice: [String] = []
        switch refusal.kind {
        case "NoAccount":
            advice = [
                "create one here with: handoffctl account create", "or join one with: handoffctl join",
            ]
        case "AmbiguousIdentifier":
            let candidates = refusal.parameters["candidates"]?.array?.compactMap(\.string) ?? []
            switch Set(candidates).count {
            case 0: break
            case 1: advice = ["see whose they are with: handoffctl list", "say whose you mean with: --from DEVICE"]
            default: advice = ["it fits: \(candidates.joined(separator: ", "))"]
            }
        case "NothingToContinue":
            advice = ["see what is on offer with: handoffctl list"]
        case "ContinuationFailed" where refusal.parameters["reason"]?.string == "peerAsleep":
            advice = ["wake it, and try again"]
        case "NoSuchNetwork":
            advice = ["see them with: handoffctl network list"]
        case "NoSuchApp":
            advice = ["see them with: handoffctl apps"]
        case "SwitchedOff":
            advice = Self.switchAdvice(refusal.parameters)
        case "NoSuchTicket":
            advice = ["see the open ones with: handoffctl account show"]
        case "NotStarted":
            advice = ["correct that, then: systemctl --user restart handoffd"]
        case "LimitExceeded" where refusal.parameters["limit"]?.string == "connections":
            advice = ["end a command or an app that uses them, and try again"]
        case "MethodNotFound", "MethodNotImplemented", "InterfaceNotFound":
            advice = ["handoffctl and handoffd may be of different versions"]
        default:
            break
        }
        self.init(
            status, refusal.kind, refusal.message, advice: advice, details: refusal.parameters)
    }

    /// What to do about something that is switched off.
    private static func switchAdvice(_ hold: JSONObject) -> [String] {
        guard let direction = hold["direction"]?.string.flatMap(SwitchDirection.init) else { return [] }
        switch hold["by"]?.string.flatMap(ControlRestriction.Author.init) {
        case .user?:
            let device = hold["device"]?.string.map { " --device \($0.prefix(7))" } ?? ""
            return ["switch it on with: handoffctl \(direction.rawValue) on\(device)"]
        case .policy?: return ["ask who administers this machine"]
        case .configuration?: return ["change it in handoffd.conf, then: systemctl --user reload handoffd"]
        case .network?: return ["make the network known with: handoffctl network trust"]
        case .session?, nil: return []
        }
    }

    /// A file of the user's cannot be used.
    package static func file(_ action: String, _ path: String, why: String) -> CommandFailure {
        CommandFailure(.failed, "FileFailed", "cannot \(action) \(path): \(why)")
    }

    /// A secret would go to a screen.
    package static func secretToTerminal() -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "the account file is a secret, and standard output is a terminal",
            advice: ["name a file, or send the output to another program"])
    }

    /// The daemon ended the transfer of an account file before it was whole.
    package static func incompleteExport() -> CommandFailure {
        CommandFailure(
            .failed, "IncompleteExport", "the daemon sent no whole account file", advice: ["its log says why"])
    }

    /// The daemon refused an account file that was sent to it.
    package static func importRefused(name: String, message: String) -> CommandFailure {
        CommandFailure(.failed, name, message, advice: name == "AccountExists" ? [leaveFirst] : [])
    }

    /// The account file was taken, and no member has let this device in so far.
    package static func notJoined(missing: String) -> CommandFailure {
        CommandFailure(
            .failed, "NotJoined", "not joined yet: \(missing)",
            advice: [
                "this device goes on trying: 'handoffctl status' shows when it has joined",
                "'handoffctl account leave' gives up",
            ])
    }

    /// The daemon ended the activity: it expired, or took it back.
    package static func withdrawn() -> CommandFailure {
        CommandFailure(.failed, "Withdrawn", "the daemon withdrew the activity")
    }

    /// The user of the device that something was sent to does not want it.
    ///
    /// - Parameters:
    ///   - title: of what was sent, in quotes.
    ///   - device: as `DeviceText` labels it.
    static func declined(_ title: String, by device: String) -> CommandFailure {
        CommandFailure(.failed, "Declined", "\(device) declined \(title)")
    }

    /// A command of the user's could not be started.
    package static func spawn(why: String) -> CommandFailure {
        CommandFailure(.failed, "SpawnFailed", "cannot start /bin/sh: \(why)")
    }

    /// What came could not be opened; it is here, and nothing is lost.
    static func cannotOpen(with program: String, why: String) -> CommandFailure {
        CommandFailure(.failed, "SpawnFailed", "cannot open what came with \(program): \(why)")
    }

    /// A call of the operating system failed that should never fail.
    package static func system(_ action: String, why: String) -> CommandFailure {
        CommandFailure(.failed, "SystemFailed", "cannot \(action): \(why)")
    }

    /// What to do before a device with an account joins another one.
    static let leaveFirst = "leave that account first, with: handoffctl account leave"

    /// To start it would help nobody who may not call it.
    private static let permissionAdvice = [
        "the socket and its folder are for their owner alone: call handoffctl as that user",
        "or see where --socket, HANDOFF_SOCKET and XDG_RUNTIME_DIR lead",
    ]

    private static let startAdvice = [
        "start it with: systemctl --user start handoffd",
        "or run handoffd in another terminal; --socket PATH names another socket",
    ]
}

extension Console {
    /// Says on standard error why a command failed.
    func writeFailure(_ failure: CommandFailure, json: Bool) {
        writeDiagnostics(failure.text(json: json, program: emphasizeDiagnostics("handoffctl:", .problem)))
    }
}

extension CommandFailure {
    /// The lines for standard error: words for people, or one JSON object.
    /// - Parameter program: what the first line for people begins with.
    package func text(json: Bool, program: String = "handoffctl:") -> String {
        guard json else {
            let lines = ["\(program) \(VisibleText.escape(message))"] + advice.map { "  \(VisibleText.escape($0))" }
            return lines.joined(separator: "\n") + "\n"
        }
        var object: JSONObject = ["error": .string(name), "message": .string(message)]
        for member in details where object[member.key] == nil { object[member.key] = member.value }
        return JSONLine.text(object) + "\n"
    }
}

/// The exit statuses of `handoffctl`; scripts rely on the numbers.
package enum ExitStatus: Int32, Sendable {
    /// Done.
    case done = 0
    /// Failed; a message on standard error says why.
    case failed = 1
    /// The command line was wrong.
    case wrongUsage = 2
    /// The daemon is not reachable, or went away.
    case daemonNotReachable = 3
    /// Nothing on offer fits.
    case nothingToContinue = 4
    /// Interrupted before it was done; the number that a shell gives to a program which SIGINT ended.
    case interrupted = 130
}

// Why streaming failed.
extension CommandFailure {
    /// A transfer came to nothing.
    /// - Parameter advice: what is kept, and what to do next.
    static func transfer(_ failure: TransferFailure, advice: [String] = []) -> CommandFailure {
        CommandFailure(
            .failed, "TransferFailed", failure.description, advice: advice,
            details: ["reason": .string(failure.reason.rawValue)])
    }

    /// A folder has arrived without some of its entries.
    /// - Parameter path: where it is; nil for standard output.
    static func incomplete(_ path: String?, _ omissions: TransferOmissions) -> CommandFailure {
        CommandFailure(
            .failed, "TransferIncomplete", "\(path ?? "the archive") is not complete: \(omissions.summary)",
            advice: ["the other device could not send them; the rest is here"],
            details: ["missing": .integer(omissions.count)])
    }

    /// A device has received a folder without some of its entries.
    static func incomplete(_ omissions: TransferOmissions) -> CommandFailure {
        CommandFailure(
            .failed, "TransferIncomplete", "not everything was sent: \(omissions.summary)",
            advice: ["keep the original: the other device has received the rest only"],
            details: ["missing": .integer(omissions.count)])
    }

    /// The activity that was continued has no streams.
    static func noStreams(device: String) -> CommandFailure {
        let failure = HandoffFailure.streamsUnsupported(device: device)
        return CommandFailure(
            .failed, "StreamFailed", "\(failure.message) (\(failure.code))",
            advice: ["it was published without --stream, or by an app that has none"], details: failure.json)
    }
}
