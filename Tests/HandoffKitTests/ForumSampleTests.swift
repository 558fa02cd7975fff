import Foundation
import HandoffJSON
import HandoffKit
import Testing

// Code with the structure of the forum reader Awful: the user's place is a route, which an
// extension of NSUserActivity writes and reads.

private enum Handoff {
    enum ActivityType {
        static let browsingPosts = "com.example.forum.activity.browsing-posts"
        static let listingThreads = "com.example.forum.activity.listing-threads"
        static let readingMessage = "com.example.forum.activity.reading-message"
    }
}

private enum Keys {
    static let bookmarks = "bookmarks"
    static let filteredThreadUserID = "filteredUserID"
    static let forumID = "forumID"
    static let messageID = "messageID"
    static let page = "page"
    static let postID = "postID"
    static let threadID = "threadID"
    static let version = "version"
}

private let handoffUserInfoVersion = 1

private enum ThreadPage: Equatable {
    case specific(Int)
    case nextUnread
}

private enum Route: Equatable {
    case bookmarks
    case forum(id: String)
    case message(id: String)
    case threadPage(threadID: String, page: ThreadPage)
    case threadPageSingleUser(threadID: String, userID: String, page: ThreadPage)

    var httpURL: URL? {
        var components = URLComponents()
        components.scheme = "https"
        components.host = "forums.example.com"
        switch self {
        case .threadPage(let threadID, _), .threadPageSingleUser(let threadID, _, _):
            components.path = "/showthread.php"
            components.queryItems = [
                URLQueryItem(name: "threadid", value: threadID), URLQueryItem(name: "perpage", value: "40"),
            ]
        case .bookmarks: components.path = "/bookmarkthreads.php"
        case .forum(let id):
            components.path = "/forumdisplay.php"
            components.queryItems = [URLQueryItem(name: "forumid", value: id)]
        case .message(let id):
            components.path = "/private.php"
            components.queryItems = [URLQueryItem(name: "privatemessageid", value: id)]
        }
        return components.url
    }
}

extension NSUserActivity {
    fileprivate var route: Route? {
        get {
            guard let userInfo else { return nil }
            switch activityType {
            case Handoff.ActivityType.browsingPosts:
                guard let threadID = userInfo[Keys.threadID] as? String else { return nil }
                let pageNumber = userInfo[Keys.page] as? Int
                let page = pageNumber.map { ThreadPage.specific($0) } ?? .nextUnread
                if let userID = userInfo[Keys.filteredThreadUserID] as? String {
                    return .threadPageSingleUser(threadID: threadID, userID: userID, page: page)
                } else {
                    return .threadPage(threadID: threadID, page: page)
                }
            case Handoff.ActivityType.listingThreads:
                if userInfo[Keys.bookmarks] != nil {
                    return .bookmarks
                } else if let forumID = userInfo[Keys.forumID] as? String {
                    return .forum(id: forumID)
                } else {
                    return nil
                }
            case Handoff.ActivityType.readingMessage:
                guard let messageID = userInfo[Keys.messageID] as? String else { return nil }
                return .message(id: messageID)
            default: return nil
            }
        }
        set {
            userInfo = nil
            webpageURL = newValue?.httpURL
            var entries: [AnyHashable: Any] = [Keys.version: handoffUserInfoVersion]
            switch newValue {
            case .bookmarks?: entries[Keys.bookmarks] = true
            case .forum(let id)?: entries[Keys.forumID] = id
            case .message(let id)?: entries[Keys.messageID] = id
            case .threadPage(let threadID, let page)?:
                entries[Keys.threadID] = threadID
                if case .specific(let number) = page { entries[Keys.page] = number }
            case .threadPageSingleUser(let threadID, let userID, let page)?:
                entries[Keys.threadID] = threadID
                entries[Keys.filteredThreadUserID] = userID
                if case .specific(let number) = page { entries[Keys.page] = number }
            case nil: return
            }
            addUserInfoEntries(from: entries)
        }
    }
}

private final class PostsPageViewController: HandoffResponder, @unchecked Sendable {
    var threadID = "123"
    var currentPage = 1
    var visiblePost: String?

    func viewDidAppear(_ application: HandoffApplication) {
        let activity = NSUserActivity(activityType: Handoff.ActivityType.browsingPosts, application: application)
        activity.route = .threadPage(threadID: threadID, page: .specific(currentPage))
        activity.title = "Reading Thread"
        activity.isEligibleForHandoff = true
        activity.isEligibleForSearch = false
        userActivity = activity
        activity.becomeCurrent()
    }

    func turn(to page: Int) {
        guard let activity = userActivity else { return }
        currentPage = page
        activity.needsSave = true
    }

    func viewDidDisappear() { userActivity?.invalidate() }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        activity.addUserInfoEntries(from: [
            Keys.threadID: threadID,
            Keys.page: currentPage,
            Keys.postID: visiblePost as Any,
            Keys.version: handoffUserInfoVersion,
        ])
    }
}

private final class Scene: NSObject, HandoffSceneDelegate {
    let kit: KitTest

    init(_ kit: KitTest) { self.kit = kit }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        guard let route = userActivity.route else { return kit.note("no route") }
        kit.note("\(route)")
    }
}

@Suite struct ForumSampleTests {
    @Test(arguments: [
        (Handoff.ActivityType.browsingPosts, Route.threadPage(threadID: "1", page: .specific(5))),
        (Handoff.ActivityType.browsingPosts, Route.threadPage(threadID: "1", page: .nextUnread)),
        (Handoff.ActivityType.browsingPosts, .threadPageSingleUser(threadID: "1", userID: "7", page: .specific(2))),
        (Handoff.ActivityType.listingThreads, Route.bookmarks),
        (Handoff.ActivityType.listingThreads, Route.forum(id: "26")),
        (Handoff.ActivityType.readingMessage, Route.message(id: "9")),
    ])
    private func `a route is restored`(type: String, route: Route) {
        let activity = NSUserActivity(activityType: type)
        activity.route = route
        #expect(activity.route == route)
        #expect(activity.webpageURL == route.httpURL && activity.webpageURL?.scheme == "https")
        #expect(activity.userInfo?[Keys.version] as? Int == 1)
    }

    @Test func `an activity of another type has no route`() {
        #expect(NSUserActivity(activityType: "com.example.other").route == nil)
        #expect(NSUserActivity(activityType: Handoff.ActivityType.browsingPosts).route == nil)
        #expect(NSUserActivity(activityType: Handoff.ActivityType.listingThreads).route == nil)
    }

    @Test func `the page is continued in a scene`() throws {
        let here = try KitTest()
        let controller = PostsPageViewController()
        controller.viewDidAppear(here.application())
        here.queue.sync { controller.turn(to: 12) }
        let activity = try #require(controller.userActivity)
        let carried = try here.carried(from: activity)
        #expect(carried.userInfo[Keys.postID] == .some(.null), "an invisible post is null")
        #expect(carried.webpageURL == "https://forums.example.com/showthread.php?threadid=123&perpage=40")

        let there = try KitTest()
        let application = there.application(types: [Handoff.ActivityType.browsingPosts])
        let delegate = Scene(there)
        application.activeScene = UIScene(delegate: delegate)
        try there.receive(carried)
        try there.run(until: "\(Route.threadPage(threadID: "123", page: .specific(12)))")
        withExtendedLifetime(delegate) {}

        controller.viewDidDisappear()
        try here.run(until: "Invalidate")
    }
}
