import ExampleSupport
import Foundation
import HandoffKit

/// A drawing program with an asynchronous main. The user's action is an activity of one of three
/// types, with a version. The drawing is sent over a continuation stream to the device that
/// continues.
@main
@MainActor
final class ShapesApp: UIApplicationDelegate, NSUserActivityDelegate {
    private static let about = About(
        name: "Shapes",
        summary: "Draws shapes. Drawing a shape, changing one, and changing the properties can be continued.",
        commands: [
            ("create circle|rectangle|triangle [COLOUR]", "starts a shape: black, blue, green, red, yellow"),
            ("place X Y WIDTH HEIGHT", "places it on the paper, which is 760 by 380"), ("edit NUMBER", "edits a shape"),
            ("move X Y", "moves it"), ("size WIDTH HEIGHT", "resizes it"), ("colour COLOUR", "changes its colour"),
            ("properties", "edits the properties of the drawing"), ("title TEXT", "sets the title"),
            ("author TEXT", "sets the author"), ("done", "ends the current action"),
            ("scribble COUNT", "draws that many shapes"), ("save FILE", "writes the drawing as text"),
        ],
        keys: ["up": "move 0 -20", "down": "move 0 20", "left": "move -10 0", "right": "move 10 0"])

    private let terminal = Terminal(about)
    private var drawing = Drawing()
    private var editing: Editing?
    private var activity: NSUserActivity?

    static func main() async {
        let app = ShapesApp()
        let application = HandoffApplication.shared
        application.configuration = HandoffApplication.Configuration(
            identifier: "com.example.shapes", version: "2.0", teamIdentifier: "EXAMPLES",
            activityTypes: Editing.ActivityType.all)
        application.report(to: app.terminal)
        application.delegate = app
        app.terminal.picture = { [unowned app] in app.picture }
        for await command in app.terminal.commands() { app.perform(command) }
        app.terminal.quit()
    }

    private var picture: [String] {
        var selected: Int?
        if case .editShape(let number, _) = editing { selected = number }
        let doing = editing.map { " · " + $0.title(of: drawing) } ?? ""
        return drawing.picture(selected: selected, "\(drawing.title), \(drawing.shapes.count) shapes\(doing)")
    }

    // MARK: Publishing

    /// Starts a user action; nil ends the current one.
    private func engage(_ editing: Editing?) {
        self.editing = editing
        guard let editing else {
            activity?.invalidate()
            activity = nil
            return terminal.report("done")
        }
        if activity?.activityType != editing.activityType {
            let former = activity
            let activity = NSUserActivity(activityType: editing.activityType)
            activity.requiredUserInfoKeys = editing.requiredKeys
            activity.supportsContinuationStreams = editing.needsDrawing
            activity.delegate = self
            self.activity = activity
            activity.becomeCurrent()
            former?.invalidate()
        }
        activity?.title = editing.title(of: drawing)
        activity?.needsSave = true
        terminal.report("doing: \(editing.title(of: drawing))")
    }

    func userActivityWillSave(_ userActivity: NSUserActivity) {
        guard let editing, editing.activityType == userActivity.activityType else { return }
        userActivity.userInfo = editing.userInfo
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        terminal.report("continued on another device: \(userActivity.title ?? "-")")
    }

    /// The other device requests the drawing.
    func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {
        let count = drawing.shapes.count
        DrawingTransfer.send(drawing, over: StreamPair(input: inputStream, output: outputStream)) {
            [terminal] problem in
            Task { @MainActor in
                terminal.report(
                    problem.map { "cannot send the drawing: \($0)" } ?? "sent the drawing of \(count) shapes")
            }
        }
    }

    // MARK: Continuing

    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        terminal.report("receiving \(userActivityType)")
        return true
    }

    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        do throws(Editing.Problem) {
            let editing = try Editing(
                activityType: userActivity.activityType, userInfo: userActivity.userInfo ?? [:])
            terminal.report("continued \(userActivity.activityType)")
            if editing.needsDrawing {
                Task { await fetch(userActivity, editing) }
            } else {
                engage(editing)
            }
            return true
        } catch {
            terminal.report("refused: \(error)")
            return false
        }
    }

    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        terminal.report("failed \(userActivityType): \(error.localizedDescription)")
    }

    /// Fetches the drawing from the other device, and continues the action.
    private func fetch(_ userActivity: NSUserActivity, _ editing: Editing) async {
        do {
            let (input, output) = try await userActivity.continuationStreams()
            drawing = try await DrawingTransfer.receive(over: StreamPair(input: input, output: output))
            terminal.report("received the drawing of \(drawing.shapes.count) shapes")
            var editing = editing
            if case .editShape(let number, let shape) = editing {
                if drawing.shapes.indices.contains(number - 1) {
                    // Its state in the activity may be more recent than the drawing.
                    drawing.shapes[number - 1] = shape
                } else {
                    drawing.shapes.append(shape)
                    editing = .editShape(number: drawing.shapes.count, shape)
                }
            }
            engage(editing)
        } catch let problem as DrawingFrame.Problem {
            terminal.report("cannot receive the drawing: \(problem)")
        } catch {
            terminal.report("cannot receive the drawing: \(error.localizedDescription)")
        }
    }

    // MARK: User actions

    private func perform(_ command: Command) {
        if !isDone(command) { terminal.reportInvalid(command) }
    }

    private func isDone(_ command: Command) -> Bool {
        switch (command.word, editing) {
        case ("create", _):
            guard let kind = command.argument(0).flatMap(Shape.Kind.init) else { return false }
            engage(.createShape(kind, command.argument(1).flatMap(Shape.Colour.init) ?? .black))
        case ("place", .createShape(let kind, let colour)?):
            guard let x = command.number(0), let y = command.number(1) else { return false }
            let width = command.number(2) ?? 100
            let shape = Shape(kind, colour, x: x, y: y, width: width, height: command.number(3) ?? width)
            drawing.shapes.append(shape)
            engage(.editShape(number: drawing.shapes.count, shape))
        case ("edit", _):
            guard let number = command.number(0), drawing.shapes.indices.contains(number - 1) else { return false }
            engage(.editShape(number: number, drawing.shapes[number - 1]))
        case ("move", .editShape(let number, let shape)?):
            guard let x = command.number(0), let y = command.number(1) else { return false }
            change(number, shape.moved(x: x, y: y))
        case ("size", .editShape(let number, let shape)?):
            guard let width = command.number(0) else { return false }
            let height = command.number(1) ?? width
            change(number, Shape(shape.kind, shape.colour, x: shape.x, y: shape.y, width: width, height: height))
        case ("colour", .editShape(let number, var shape)?):
            guard let colour = command.argument(0).flatMap(Shape.Colour.init) else { return false }
            shape.colour = colour
            change(number, shape)
        case ("properties", _): engage(.editDocumentProperties)
        case ("title", .editDocumentProperties?):
            drawing.title = command.text
            engage(.editDocumentProperties)
        case ("author", .editDocumentProperties?):
            drawing.author = command.text
            terminal.report("by \(drawing.author)")
        case ("done", _): engage(nil)
        case ("scribble", _):
            guard let count = command.number(0), (0...2_000_000).contains(count) else { return false }
            drawing.scribble(count)
            terminal.report("\(drawing.shapes.count) shapes")
        case ("save", _): save(to: command.text)
        default: return false
        }
        return true
    }

    private func change(_ number: Int, _ shape: Shape) {
        drawing.shapes[number - 1] = shape
        engage(.editShape(number: number, shape))
    }

    private func save(to path: String) {
        do {
            try Data(drawing.text).write(to: URL(fileURLWithPath: path))
            terminal.report("saved \(drawing.shapes.count) shapes")
        } catch {
            terminal.report("cannot write \(path): \(error.localizedDescription)")
        }
    }
}
