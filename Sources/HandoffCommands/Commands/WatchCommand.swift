import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `watch`: follows the other devices' offers until interrupted.
package struct WatchCommand: Command {
    package static let specification = CommandSpecification(
        words: ["watch"], summary: "follow the activities that the other devices offer",
        options: [
            OptionSpecification(
                formatOption, .value(.words([barFormat])), "print the number of offers for a status bar")
        ],
        details: """
            Prints the current offers, then 'ready', then each change: added, changed, removed. Exits when interrupted,
            when the reader of its output has ended, or with status 3 if the daemon stops.

            With --format waybar, prints one JSON object now and after each change, as custom modules of waybar and
            similar bars read it: text (the number of offers, empty if there are none), tooltip (their titles and
            devices, as Pango markup), class and alt ('offers' or 'none'). Excludes --json (docs/desktop.md).

            With --json: event (added, also for the current offers, changed, removed, ready), and the fields of 'list'
            except with ready.
            """,
        example: "handoffctl watch --json | jq --unbuffered -r .title")

    private static let formatOption = "--format"
    private static let barFormat = "waybar"

    /// True to print the module of a status bar instead of events.
    private let isForBar: Bool

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let format = arguments.value(Self.formatOption)
        isForBar = format != nil
        if let format, format != Self.barFormat {
            throw .badValue(format, of: "format", expected: Self.barFormat, command: command)
        }
        if isForBar, arguments.has("--json") { throw .conflict(Self.formatOption, "--json", command: command) }
    }

    package func run(in context: CommandContext) {
        context.onInterrupt { context.finish(.done) }
        // A bar that crashes leaves its command behind, which may not write for days. A file cannot be watched.
        if context.ownsProcess {
            let output = StandardStream.output.rawValue
            let watch = try? context.loop.watch(output, .error) { _ in ProcessSignals.exitByBrokenPipe() }
            context.keep(watch as Any)
        }
        if isForBar { showModule(in: context) } else { showEvents(in: context) }
    }

    private func showModule(in context: CommandContext) {
        context.connect { client in
            var module = StatusBarModule()
            client.watch { result in
                switch result {
                case .success(let event):
                    if let object = module.apply(event) { context.console.line(object) }
                case .failure(let error):
                    // Some bars keep the last line when the command ends.
                    if let object = module.clear() { context.console.line(object) }
                    context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func showEvents(in context: CommandContext) {
        context.connect { client in
            var isReady = false
            client.watch { result in
                switch result {
                case .success(let event):
                    if case .ready = event { isReady = true }
                    Self.show(event, isChange: isReady, context)
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    /// - Parameter isChange: true if it occurred after the initial offers.
    private static func show(_ event: WatchEvent, isChange: Bool, _ context: CommandContext) {
        context.show(Describe.event(event.name, event.activity?.json ?? [:]), or: text(event, isChange: isChange))
    }

    private static func text(_ event: WatchEvent, isChange: Bool) -> String {
        guard let activity = event.activity else { return event.name }
        let title = Describe.title(activity.title, type: activity.type)
        let word = isChange ? event.name : "offered"
        return "\(Describe.word(word, width: 7))  \(activity.id.short)  \(title)"
            + " from \(VisibleText.escape(activity.deviceName))"
            + (activity.kept.map { ", \(Describe.keptAsOf(activity, $0))" } ?? "")
            + "  (\(activity.type), \(Describe.opensPhrase(activity.opens)))"
    }
}
