import HandoffControl
import HandoffModel
import LoopIO

/// Lets the person at the terminal pick one of several offers. Drawn on standard error, and taken away with the choice.
/// Lives on the loop's thread.
final class ActivityPicker {
    private let activities: [ControlActivity]
    private let context: CommandContext
    private let then: (ControlActivity?) -> Void
    private var list: PickList
    private var keys: AnyObject?
    /// Lines that are on the screen now.
    private var drawn = 0

    /// - Parameter then: gets what was picked, nil for nothing; called once.
    init(_ activities: [ControlActivity], _ context: CommandContext, _ then: @escaping (ControlActivity?) -> Void) {
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

    /// Takes the list away, and gives the terminal back.
    private func end() {
        keys = nil
        context.console.writeDiagnostics(erasing)
        drawn = 0
    }

    /// Up to the first line that was drawn, and everything from there on cleared (ECMA-48 CUU, ED).
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
        var lines = ["Which one goes on here? Arrows or a number, Enter; q leaves."]
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

    private func title(_ activity: ControlActivity) -> String {
        guard let title = activity.title, !title.isEmpty else { return Describe.type(activity.type) }
        return VisibleText.escape(title)
    }

    /// What there is to know of an offer before it is continued, one line each; a terminal breaks no line of these.
    private func preview(_ activity: ControlActivity, _ columns: Int) -> [String] {
        let more = [activity.hasWebpageURL ? "with a web page" : nil, activity.streams ? "with a stream" : nil]
        let kind = ([Describe.type(activity.type)] + more.compactMap(\.self)).joined(separator: ", ")
        let sent = activity.sent ? "sent to you by" : "from"
        let device = DeviceText.label(activity.deviceName, activity.device)
        return ["", title(activity), "\(kind), \(sent) \(device); \(Describe.opensPhrase(activity.opens))"].map {
            DisplayWidth.truncate($0, to: columns)
        }
    }
}
