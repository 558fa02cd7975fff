import ExampleSupport
import Foundation
import HandoffKit

/// A forum reader, structured as an app without delegates: a loop for each type handles the
/// activities of other devices. Every screen creates an activity when it appears, and invalidates
/// it when it disappears.
@main
@MainActor
final class ForumReaderApp: NSUserActivityDelegate {
    private static let about = About(
        name: "ForumReader",
        summary: "Reads a forum. The current place can be continued, or opened as a web page.",
        commands: [
            ("bookmarks", "shows the bookmarked threads, and the messages"),
            ("forum kitchen|trails|workshop", "shows the threads of a forum"),
            ("thread ID [PAGE]", "opens a thread, by default at the first unread page"),
            ("page NUMBER", "turns to a page"),
            ("next", "turns to the next page"), ("back", "turns to the previous page"),
            ("scroll COUNT", "scrolls by posts within the page"),
            ("by USER", "shows only one user's posts in the thread"), ("all", "shows all posts in the thread"),
            ("message ID", "reads a private message"),
        ],
        keys: ["left": "back", "right": "next", "up": "scroll -1", "down": "scroll 1"])

    private let terminal = Terminal(about)
    private let application = HandoffApplication.shared
    private var reader = Reader()
    private var userActivity: NSUserActivity?

    static func main() async {
        let app = ForumReaderApp()
        app.begin()
        for await command in app.terminal.commands() { app.perform(command) }
        app.terminal.quit()
    }

    private func begin() {
        terminal.picture = { [unowned self] in reader.picture }
        application.configuration = HandoffApplication.Configuration(
            identifier: "com.example.forum", version: "1.0", teamIdentifier: "EXAMPLES")
        application.report(to: terminal)
        for type in NSUserActivity.ForumType.all {
            // This also declares the type.
            let activities = application.continuations(of: type)
            Task { for await activity in activities { continueActivity(activity) } }
            application.onWillContinue(type) { [self] in terminal.report("receiving \(type)") }
            application.onFail(type) { [self] error in
                terminal.report("failed \(type): \(error.localizedDescription)")
            }
        }
        appear()
    }

    // MARK: Handoff

    private func continueActivity(_ activity: NSUserActivity) {
        terminal.report("continued \(activity.activityType)")
        if let route = activity.route, open(route) { return }
        // The web page is for devices without the app, and for an app that is too old.
        let page = activity.webpageURL.map { "; its web page is \($0.absoluteString)" } ?? ""
        terminal.report("cannot show '\(activity.title ?? activity.activityType)' here\(page)")
    }

    /// Publishes the user's activity on the screen that has appeared.
    private func appear() {
        let route = reader.route
        if let userActivity, userActivity.activityType == route.activityType {
            userActivity.route = route
            userActivity.title = reader.title
            userActivity.needsSave = true
        } else {
            // A new screen: the activity of the former one has ended.
            let former = userActivity
            let activity = NSUserActivity(route)
            activity.title = reader.title
            activity.delegate = self
            userActivity = activity
            activity.becomeCurrent()
            former?.invalidate()
        }
        terminal.report("shows \(route.webURL?.absoluteString ?? "-")")
    }

    /// Writes the exact position, immediately before it is sent.
    func userActivityWillSave(_ userActivity: NSUserActivity) {
        userActivity.route = reader.route
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        terminal.report("continued on another device: \(userActivity.title ?? "-")")
    }

    // MARK: User actions

    @discardableResult
    private func open(_ route: Route?) -> Bool {
        guard let route, reader.open(route) else { return false }
        appear()
        return true
    }

    /// Scrolls within the page. This publishes nothing; it only marks the activity as changed.
    private func scroll(by count: Int) -> Bool {
        guard let route = reader.scrolled(by: count), reader.open(route) else { return false }
        userActivity?.needsSave = true
        terminal.report("at \(reader.topPost.map { reader.posts[$0].id } ?? "-")")
        return true
    }

    private func perform(_ command: Command) {
        let isDone =
            switch command.word {
            case "bookmarks": open(.bookmarks)
            case "forum": open(command.argument(0).map { .forum(id: $0) })
            case "message": open(command.argument(0).map { .message(id: $0) })
            case "thread":
                open(
                    command.argument(0).map { id in
                        .thread(id: id, page: command.number(1).flatMap(Page.init(number:)) ?? .nextUnread, post: nil)
                    })
            case "by": open(command.argument(0).flatMap(filtered))
            case "all": open(filtered(by: nil))
            case "page": open(command.number(0).flatMap(reader.route(page:)))
            case "next": open(reader.page.flatMap { $0 < reader.pageCount ? reader.route(page: $0 + 1) : nil })
            case "back": open(reader.page.flatMap { reader.route(page: $0 - 1) })
            case "scroll": scroll(by: command.number(0) ?? 1)
            default: false
            }
        if !isDone { terminal.reportInvalid(command) }
    }

    private func filtered(by user: String?) -> Route? {
        switch reader.route {
        case .thread(let id, _, _), .threadOfUser(let id, _, _, _):
            user.map { .threadOfUser(id: id, user: $0, page: .specific(1), post: nil) }
                ?? .thread(id: id, page: .specific(1), post: nil)
        default: nil
        }
    }
}
