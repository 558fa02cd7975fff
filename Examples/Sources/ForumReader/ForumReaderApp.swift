import ExampleSupport
import Foundation
import HandoffKit

/// Reads a forum: in the shape of an app without delegates, in which a loop for each type takes what other devices hand
/// over. Every screen makes an activity when it appears, and invalidates it when it goes.
@main
@MainActor
final class ForumReaderApp: NSUserActivityDelegate {
    private static let about = About(
        name: "ForumReader",
        summary: "Reads a forum. The place where one reads can be continued, or opened as a web page.",
        commands: [
            ("bookmarks", "shows the threads that are kept, and the messages"),
            ("forum kitchen|trails|workshop", "shows the threads of a forum"),
            ("thread ID [PAGE]", "reads a thread, from where one stopped"), ("page NUMBER", "turns to a page"),
            ("next", "turns the page"), ("back", "turns it back"), ("scroll COUNT", "scrolls by posts, on the page"),
            ("by USER", "shows only what one user wrote in the thread"), ("all", "shows what all wrote in it"),
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
        application.configuration = HandoffConfiguration(
            identifier: "com.example.forum", version: "1.0", teamIdentifier: "EXAMPLES")
        application.report(to: terminal)
        for type in NSUserActivity.ForumType.all {
            // Which declares the type, too.
            let activities = application.continuations(of: type)
            Task { for await activity in activities { continueActivity(activity) } }
            application.onWillContinue(type) { [self] in terminal.say("receiving \(type)") }
            application.onFail(type) { [self] error in terminal.say("failed \(type): \(error.localizedDescription)") }
        }
        appear()
    }

    // MARK: Handoff

    private func continueActivity(_ activity: NSUserActivity) {
        terminal.say("continued \(activity.activityType)")
        if let route = activity.route, open(route) { return }
        // The web page is for devices without the app, and for an app that is too old.
        let page = activity.webpageURL.map { "; its web page is \($0.absoluteString)" } ?? ""
        terminal.say("cannot show '\(activity.title ?? activity.activityType)' here\(page)")
    }

    /// The screen has appeared: what the user does there begins.
    private func appear() {
        let route = reader.route
        if let userActivity, userActivity.activityType == route.activityType {
            userActivity.route = route
            userActivity.title = reader.title
            userActivity.needsSave = true
        } else {
            // Another screen: what was done on the former one has ended.
            let former = userActivity
            let activity = NSUserActivity(route)
            activity.title = reader.title
            activity.delegate = self
            userActivity = activity
            activity.becomeCurrent()
            former?.invalidate()
        }
        terminal.say("shows \(route.webURL?.absoluteString ?? "-")")
    }

    /// The last chance to write where exactly the user is.
    func userActivityWillSave(_ userActivity: NSUserActivity) {
        userActivity.route = reader.route
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        terminal.say("continued elsewhere: \(userActivity.title ?? "-")")
    }

    // MARK: What the user does

    @discardableResult
    private func open(_ route: Route?) -> Bool {
        guard let route, reader.open(route) else { return false }
        appear()
        return true
    }

    /// Scrolling is no navigation: nothing is published for it, only marked as news for whoever continues.
    private func scroll(by count: Int) -> Bool {
        guard let route = reader.scrolled(by: count), reader.open(route) else { return false }
        userActivity?.needsSave = true
        terminal.say("at \(reader.topPost.map { reader.posts[$0].id } ?? "-")")
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
        if !isDone { terminal.misunderstood(command) }
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
