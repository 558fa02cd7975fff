import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer
import LoopIO

/// The failure of a command, as reported to the caller. All messages for failures are in this file
/// and in `CommandFailure+….swift`.
struct CommandFailure: Error, Equatable, Sendable {
    /// The program's exit status.
    let status: ExitStatus
    /// A stable name for the kind of failure, for `--json`.
    let name: String
    /// The failed operation, its subject, and the reason, as a lower-case fragment without a
    /// period.
    let message: String
    /// The next steps, one per line.
    let advice: [String]
    /// Additional fields for `--json`: the parameters of the daemon's error.
    let details: JSONObject

    init(
        _ status: ExitStatus, _ name: String, _ message: String, advice: [String] = [], details: JSONObject = [:]
    ) {
        self.status = status
        self.name = name
        self.message = message
        self.advice = advice
        self.details = details
    }

    /// The command line is invalid.
    init(_ error: UsageError) {
        let topic = error.command.map { " \($0)" } ?? ""
        self.init(.wrongUsage, "WrongUsage", error.message, advice: ["see: handoffctl help\(topic)"])
    }

    /// A request to the daemon failed.
    init(_ error: ClientError) {
        switch error {
        case .notReachable(let path, let reason):
            self.init(
                .daemonNotReachable, "DaemonNotReachable", "cannot reach the daemon at \(path): \(reason)",
                advice: reason == "\(Errno.permissionDenied)" ? Self.permissionAdvice : Self.startAdvice)
        case .foreign(let path, let user):
            self.init(
                .daemonNotReachable, "ForeignDaemon",
                "the socket \(path) belongs to the user with id \(user); nothing was sent to it",
                advice: [
                    "a daemon serves only its own user: run handoffctl as that user",
                    "or check --socket, HANDOFF_SOCKET and XDG_RUNTIME_DIR",
                ])
        case .lost(let path):
            self.init(
                .daemonNotReachable, "ConnectionLost", "the daemon at \(path) closed the connection",
                advice: ["if it is running, its log has the reason: journalctl --user -u handoffd"] + Self.startAdvice)
        case .badAnswer(let why):
            self.init(
                .failed, "BadAnswer", "the daemon sent an invalid reply: \(why)",
                advice: ["handoffctl and handoffd may have different versions"])
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
            case 1: advice = ["list their devices with: handoffctl list", "choose one with: --from DEVICE"]
            default: advice = ["it matches: \(candidates.joined(separator: ", "))"]
            }
        case "NothingToContinue":
            advice = ["list the offers with: handoffctl list"]
        case "ContinuationFailed" where refusal.parameters["reason"]?.string == "peerAsleep":
            advice = ["wake it, and try again"]
        case "ContinuationFailed" where refusal.parameters["reason"]?.string == "newerElsewhere":
            advice = ["continue that one by its id, or this one with: --older"]
        case "NoSuchNetwork":
            advice = ["list them with: handoffctl network list"]
        case "NoSuchApp":
            advice = ["list them with: handoffctl apps"]
        case "SwitchedOff":
            advice = Self.switchAdvice(refusal.parameters)
        case "NoSuchTicket":
            advice = ["list the open ones with: handoffctl account show"]
        case "NotStarted":
            advice = ["fix that, then: systemctl --user restart handoffd"]
        case "LimitExceeded" where refusal.parameters["limit"]?.string == "connections":
            advice = ["close a command or app that uses them, and try again"]
        case "MethodNotFound", "MethodNotImplemented", "InterfaceNotFound":
            advice = ["handoffctl and handoffd may have different versions"]
        default:
            break
        }
        self.init(
            status, refusal.kind, refusal.message, advice: advice, details: refusal.parameters)
    }

    /// Returns advice for a direction that is switched off.
    private static func switchAdvice(_ restriction: JSONObject) -> [String] {
        guard let direction = restriction["direction"]?.string.flatMap(SwitchDirection.init) else { return [] }
        switch restriction["by"]?.string.flatMap(ControlRestriction.Author.init) {
        case .user?:
            let device = restriction["device"]?.string.map { " --device \($0.prefix(7))" } ?? ""
            return ["turn it on with: handoffctl \(direction.rawValue) on\(device)"]
        case .policy?: return ["ask the administrator of this machine"]
        case .configuration?: return ["change it in handoffd.conf, then: systemctl --user reload handoffd"]
        case .network?: return ["mark the network as known with: handoffctl network trust"]
        case .session?, nil: return []
        }
    }

    /// A file of the user cannot be used.
    static func file(_ action: String, _ path: String, why: String) -> CommandFailure {
        CommandFailure(.failed, "FileFailed", "cannot \(action) \(path): \(why)")
    }

    /// A secret would be written to a terminal.
    static func secretToTerminal() -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "the account file is a secret and cannot be written to a terminal",
            advice: ["name a file, or redirect the output"])
    }

    /// The daemon ended the transfer of an account file before it was complete.
    static func incompleteExport() -> CommandFailure {
        CommandFailure(
            .failed, "IncompleteExport", "the daemon sent an incomplete account file", advice: ["see its log"])
    }

    /// The daemon refused an account file.
    static func importRefused(name: String, message: String) -> CommandFailure {
        CommandFailure(.failed, name, message, advice: name == "AccountExists" ? [leaveFirst] : [])
    }

    /// The account file was accepted, but no member has admitted this device yet.
    static func notJoined(missing: String) -> CommandFailure {
        CommandFailure(
            .failed, "NotJoined", "not joined yet: \(missing)",
            advice: [
                "this device keeps trying: 'handoffctl status' shows when it has joined",
                "'handoffctl account leave' cancels",
            ])
    }

    /// The daemon ended the activity: it expired or was withdrawn.
    static func withdrawn() -> CommandFailure {
        CommandFailure(.failed, "Withdrawn", "the daemon withdrew the activity")
    }

    /// The user of the receiving device declined.
    ///
    /// - Parameters:
    ///   - title: the title of the item, in quotes.
    ///   - device: the device, as labelled by `DeviceText`.
    static func declined(_ title: String, by device: String) -> CommandFailure {
        CommandFailure(.failed, "Declined", "\(device) declined \(title)")
    }

    /// Another process offers the items that wait.
    static func alreadyDelivering(process: Int32?) -> CommandFailure {
        CommandFailure(
            .alreadyRunning, "AlreadyRunning",
            "another handoffctl deliver\(process.map { " (process \($0))" } ?? "") offers the items that are waiting",
            advice: ["it also offers items that are added: list them with: handoffctl list --mine"])
    }

    /// A command of the user cannot be started.
    static func spawn(why: String) -> CommandFailure {
        CommandFailure(.failed, "SpawnFailed", "cannot start /bin/sh: \(why)")
    }

    /// The received content cannot be opened; it is kept.
    static func cannotOpen(with program: String, why: String) -> CommandFailure {
        CommandFailure(.failed, "SpawnFailed", "cannot open the received content with \(program): \(why)")
    }

    /// A system call failed unexpectedly.
    static func system(_ action: String, why: String) -> CommandFailure {
        CommandFailure(.failed, "SystemFailed", "cannot \(action): \(why)")
    }

    /// Advice for a device with an account that joins another one.
    static let leaveFirst = "first leave that account with: handoffctl account leave"

    // Starting the daemon does not help a user who may not access it.
    private static let permissionAdvice = [
        "only their owner can access the socket and its folder: run handoffctl as that user",
        "or check --socket, HANDOFF_SOCKET and XDG_RUNTIME_DIR",
    ]

    private static let startAdvice = [
        "start it with: systemctl --user start handoffd",
        "or run handoffd in another terminal; use --socket PATH for another socket",
    ]
}

extension Console {
    /// Reports a failure on standard error.
    func writeFailure(_ failure: CommandFailure, json: Bool) {
        writeDiagnostics(failure.text(json: json, program: emphasizeDiagnostics("handoffctl:", .problem)))
    }
}

extension CommandFailure {
    /// Returns the lines for standard error: text, or one JSON object.
    /// - Parameter program: the prefix of the first line of text.
    func text(json: Bool, program: String = "handoffctl:") -> String {
        guard json else {
            let lines = ["\(program) \(VisibleText.escape(message))"] + advice.map { "  \(VisibleText.escape($0))" }
            return lines.joined(separator: "\n") + "\n"
        }
        var object: JSONObject = ["error": .string(name), "message": .string(message)]
        for member in details where object[member.key] == nil { object[member.key] = member.value }
        return JSONLine.text(object) + "\n"
    }
}

/// The exit statuses of `handoffctl`. Scripts rely on the numbers.
package enum ExitStatus: Int32, Sendable {
    /// Done.
    case done = 0
    /// Failed, with a message on standard error.
    case failed = 1
    /// The command line is invalid.
    case wrongUsage = 2
    /// The daemon is not reachable, or stopped.
    case daemonNotReachable = 3
    /// No offer matches.
    case nothingToContinue = 4
    /// Another process performs the command already.
    case alreadyRunning = 5
    /// Interrupted before completion; the status that a shell reports for a program ended by
    /// SIGINT.
    case interrupted = 130
}

// Failures of transfers.
extension CommandFailure {
    /// A transfer failed.
    /// - Parameter advice: the part that is kept, and the next step.
    static func transfer(_ failure: TransferFailure, advice: [String] = []) -> CommandFailure {
        CommandFailure(
            .failed, "TransferFailed", failure.description, advice: advice,
            details: ["reason": .string(failure.reason.rawValue)])
    }

    /// A folder was received without some of its entries.
    /// - Parameter path: the path of the folder; nil for standard output.
    static func incomplete(_ path: String?, _ omissions: TransferOmissions) -> CommandFailure {
        CommandFailure(
            .failed, "TransferIncomplete", "\(path ?? "the archive") is not complete: \(omissions.summary)",
            advice: ["the other device could not send them; the rest was received"],
            details: ["missing": .integer(omissions.count)])
    }

    /// Another device has received a folder without some of its entries.
    static func incomplete(_ omissions: TransferOmissions) -> CommandFailure {
        CommandFailure(
            .failed, "TransferIncomplete", "not everything was sent: \(omissions.summary)",
            advice: ["keep the original: the other device has received only the rest"],
            details: ["missing": .integer(omissions.count)])
    }

    /// The continued activity has no streams.
    static func noStreams(device: String) -> CommandFailure {
        let failure = HandoffFailure.streamsUnsupported(device: device)
        return CommandFailure(
            .failed, "StreamFailed", "\(failure.message) (\(failure.code))",
            advice: ["it was published without --stream, or by an app without streams"], details: failure.json)
    }
}
