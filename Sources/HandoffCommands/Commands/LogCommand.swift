import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `log`: shows the log of continuations.
package struct LogCommand: Command {
    package static let specification = CommandSpecification(
        words: ["log"], summary: "show which activities were continued, when, and on which device",
        options: [
            OptionSpecification("--follow", .flag, "print new entries as they arrive, until interrupted"),
            OptionSpecification("--lines", .value("NUMBER"), "show only the last NUMBER entries"),
        ],
        details: """
            Shows the time, the device, the type, the local app, and the result of each continuation, but no titles,
            pages or content. The log is stored in the state folder, in history and history.old, each of 1 MiB at most.
            Older entries are deleted. Frequent repetitions by another device are combined, with the time of the last
            one: '(8 times)'.

            With --json, a line for each: number, time (seconds since 1970), event, direction (in from another device,
            out from this one), type, device, deviceName, app, outcome, count, sent, received. The event determines the
            outcome:

              payload       given (another device requested and received the state of a local activity)
              continuation  continued, or the reason of the failure, as in 'continue'
              stream        how it ended, as in AwaitStream, with the bytes that were sent and received here, of all
                            combined entries
            """,
        example: "handoffctl log --follow")

    private let follows: Bool
    private let lines: Int?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        follows = arguments.has("--follow")
        lines = try arguments.value("--lines").map { text throws(UsageError) in
            guard let number = Int(text), number >= 0, number <= 100_000, text.utf8.allSatisfy({ $0 != 0x2B }) else {
                throw .badValue(
                    text, of: "--lines", expected: "a number from 0 to 100000", command: Self.specification.name)
            }
            return number
        }
    }

    package func run(in context: CommandContext) {
        if follows { context.onInterrupt { context.finish(.done) } }
        context.connect { client in
            read(after: 0, kept: [], client, context)
        }
    }

    /// Reads all pages. With `--lines`, nothing is shown before the last page has arrived.
    private func read(after number: Int, kept: [ControlLogEntry], _ client: ControlClient, _ context: CommandContext) {
        client.readLog(after: number) { [unowned client] result in
            switch result {
            case .failure(let error): context.fail(CommandFailure(error))
            case .success(let page):
                let last = page.entries.last?.number ?? number
                var kept = kept
                if let lines {
                    kept = (kept + page.entries).suffix(lines)
                } else {
                    for entry in page.entries { Self.show(entry, context) }
                }
                // Stop at a page that makes no progress, or it would be requested endlessly.
                guard !page.hasMore || last <= number else {
                    return read(after: last, kept: kept, client, context)
                }
                for entry in kept { Self.show(entry, context) }
                guard follows else { return context.finish(.done) }
                client.followLog(after: last) { result in
                    switch result {
                    case .success(let entry): Self.show(entry, context)
                    case .failure(let error): context.fail(CommandFailure(error))
                    }
                }
            }
        }
    }

    private static func show(_ entry: ControlLogEntry, _ context: CommandContext) {
        context.show(entry.json, or: LogText.line(entry))
    }
}

/// Formats entries of the continuation log.
enum LogText {
    /// Returns the entry in one line: time, type or stream, peer, app, and outcome.
    static func line(_ entry: ControlLogEntry) -> String {
        let device = DeviceText.label(entry.deviceName, entry.device)
        let app = entry.app.map { " in \(VisibleText.escape($0))" } ?? ""
        let peer = entry.direction == .in ? "from \(device)" : "to \(device)"
        let outcome = VisibleText.escape(words(entry.outcome))
        let what: String
        switch entry.event.known {
        case .continuation, .payload, nil:
            let type = entry.type.map { type in ActivityType(type).map(Describe.type) ?? type } ?? ""
            what = "\(VisibleText.escape(type)) \(peer)\(app): \(outcome)"
        case .stream:
            let sent = ByteText.text(entry.sent ?? 0)
            what = "stream \(peer)\(app): \(outcome), \(sent) sent, \(ByteText.text(entry.received ?? 0)) received"
        }
        let count = entry.count == 1 ? "" : " (\(entry.count) times)"
        return "\(LocalTime.text(entry.time))  \(what)\(count)"
    }

    /// Converts an outcome to words: `launchFailed` becomes `launch failed`.
    private static func words(_ outcome: String) -> String {
        outcome.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
    }
}
