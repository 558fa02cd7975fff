import HandoffControl
import HandoffModel

/// What people are told of several apps that claim the same.
enum ChoiceText {
    /// What an app claims and another one opens; a line each.
    static func conflicts(_ app: ControlApp) -> [String] {
        app.yields.map { yield in
            "\(VisibleText.escape(yield.claim)) opens in \(VisibleText.escape(yield.to)), which was here before "
                + VisibleText.escape(app.id)
        }
    }

    /// How the user chooses: no command to be copied, since a type may hold anything that a shell understands.
    static func remedy(_ app: ControlApp, _ yield: ControlApp.Yield) -> String {
        let type = app.types.contains(yield.claim) ? yield.claim : ActivityType.browsingWeb.text
        return "choose by a line in the file ~/.config/handoff/defaults, which holds at once: "
            + "\(VisibleText.escape(type))=\(VisibleText.escape(app.id)) or "
            + "\(VisibleText.escape(type))=\(VisibleText.escape(yield.to))"
    }
}
