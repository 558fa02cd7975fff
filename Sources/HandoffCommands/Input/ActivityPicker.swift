import HandoffControl
import HandoffModel
import LoopIO

/// Lets the user pick one of several offers on a terminal. Draws on standard error, and erases the
/// list after the choice. Used only on the loop's thread.
final class ActivityPicker {
    private let activities: [OfferedActivity]
    private let context: CommandContext
    private let then: (OfferedActivity?) -> Void
    private var list: PickList
    private var keys: AnyObject?
    /// The number of lines currently drawn.
    private var drawn = 0

    /// - Parameter then: receives the picked activity, or nil if the user cancelled; called once.
    init(_ activities: [OfferedActivity], _ context: CommandContext, _ then: @escaping (OfferedActivity?) -> Void) {
        self.activities = activities
        self.context = context
        self.then = then
        list = PickList(count: activities.count)
    }

    /// Shows the list.
    func start() {
        context.onInterrupt { [unowned self] in
            end()
            context.finish(.interrupted)
        }
        do throws(Errno) {
            keys = try context.keyboard.keys(context.loop) { [weak self] result in
                switch result {
                case .success(let key): self?.press(key)
                case .failure(let error): self?.fail(error)
                }
            }
            draw()
        } catch {
            fail(error)
        }
    }

    private func press(_ key: TerminalKey) {
        switch list.press(key) {
        case .none: break
        case .moved: draw()
        case .picked(let index):
            end()
            then(activities[index])
        case .left:
            end()
            then(nil)
        }
    }

    private func fail(_ error: Errno) {
        end()
        context.fail(.noAnswer(why: "\(error)"))
    }

    /// Erases the list and releases the terminal.
    private func end() {
        keys = nil
        context.console.writeDiagnostics(erasing)
        drawn = 0
    }

    /// Moves up to the first drawn line and clears everything from there on (ECMA-48 CUU, ED).
    private var erasing: String { drawn > 0 ? "\r\u{1B}[\(drawn)A\u{1B}[J" : "" }

    private func draw() {
        let columns = max(20, (context.console.statusColumns() ?? 80) - 1)
        var table = ColumnTable(["", "TITLE", "DEVICE", "AGE", "OPENS IN"])
        for index in activities.indices {
            let activity = activities[index]
            table.add([
                "\(index == list.selected ? ">" : " ") \(index + 1)", title(activity),
                VisibleText.escape(activity.deviceName),
                RelativeAge.text(seconds: activity.age), Describe.opens(activity.opens),
            ])
        }
        let rows = table.lines(fitting: columns)
        var lines = ["Continue which activity? Arrow keys or a number, Enter; q to quit."]
        lines += rows.prefix(1).map { emphasize($0) }
        for index in list.visible {
            let row = rows[index + 1]
            lines.append(index == list.selected ? emphasize(row) : row)
        }
        let hidden = list.count - list.visible.count
        if hidden > 0 { lines.append("  … \(hidden) more") }
        lines += preview(activities[list.selected], columns)
        context.console.writeDiagnostics(erasing + lines.map { $0 + "\n" }.joined())
        drawn = lines.count
    }

    private func emphasize(_ text: String) -> String { context.console.emphasizeDiagnostics(text, .strong) }

    private func title(_ activity: OfferedActivity) -> String {
        guard let title = activity.title, !title.isEmpty else { return Describe.type(activity.type) }
        return VisibleText.escape(title)
    }

    /// Describes an offer before it is continued, one string per line. Lines are cut to the
    /// terminal's width.
    private func preview(_ activity: OfferedActivity, _ columns: Int) -> [String] {
        let more = [activity.hasWebpageURL ? "with a web page" : nil, activity.streams ? "with a stream" : nil]
        let kind = ([Describe.type(activity.type)] + more.compactMap(\.self)).joined(separator: ", ")
        let sent = activity.sent ? "sent to you by" : "from"
        let device = DeviceText.label(activity.deviceName, activity.device)
        let line = "\(kind), \(sent) \(device)\(Describe.state(activity)); \(Describe.opensPhrase(activity.opens))"
        return ["", title(activity), line].map { DisplayWidth.truncate($0, to: columns) }
    }
}
