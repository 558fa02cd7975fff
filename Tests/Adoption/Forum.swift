import Foundation
import HandoffKit

// The forum reader Awful: routes as an extension of NSUserActivity, an application delegate and a
// scene delegate, and the lifecycle of an activity in a view controller.

enum Handoff {
    enum ActivityType {
        static let browsingPosts = "com.awfulapp.Awful.activity.browsing-posts"
        static let listingThreads = "com.awfulapp.Awful.activity.listing-threads"
        static let readingMessage = "com.awfulapp.Awful.activity.reading-message"
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
private let baseURL = URL(string: "https://forums.example.com/")

enum ThreadPage: Equatable {
    case specific(Int)
    case nextUnread

    var queryItem: URLQueryItem {
        switch self {
        case .specific(let number): URLQueryItem(name: "pagenumber", value: "\(number)")
        case .nextUnread: URLQueryItem(name: "goto", value: "newpost")
        }
    }
}

enum UpdateSeen: Equatable {
    case seen
    case noseen

    var queryValue: String { self == .noseen ? "1" : "0" }
}

enum AwfulRoute: Equatable {
    case bookmarks
    case forum(id: String)
    case message(id: String)
    case threadPage(threadID: String, page: ThreadPage, UpdateSeen)
    case threadPageSingleUser(threadID: String, userID: String, page: ThreadPage, UpdateSeen)

    var httpURL: URL {
        var components = URLComponents()
        switch self {
        case let .threadPage(threadID: threadID, page: page, updateSeen),
            let .threadPageSingleUser(threadID: threadID, userID: _, page: page, updateSeen):
            components.path = "showthread.php"
            components.queryItems = [
                URLQueryItem(name: "threadid", value: threadID),
                URLQueryItem(name: "perpage", value: "40"),
                page.queryItem,
                URLQueryItem(name: "noseen", value: updateSeen.queryValue),
            ]
        case .bookmarks: components.path = "bookmarkthreads.php"
        case .forum(let id):
            components.path = "forumdisplay.php"
            components.queryItems = [URLQueryItem(name: "forumid", value: id)]
        case .message(let id):
            components.path = "private.php"
            components.queryItems = [URLQueryItem(name: "privatemessageid", value: id)]
        }
        // swift-format-ignore: NeverForceUnwrap
        return components.url(relativeTo: baseURL)!
    }
}

extension NSUserActivity {
    var route: AwfulRoute? {
        get {
            guard let userInfo = userInfo else { return nil }
            switch activityType {
            case Handoff.ActivityType.browsingPosts:
                guard let threadID = userInfo[Keys.threadID] as? String else { return nil }

                let pageNumber = userInfo[Keys.page] as? Int
                let page = pageNumber.map { ThreadPage.specific($0) } ?? .nextUnread

                if let userID = userInfo[Keys.filteredThreadUserID] as? String {
                    return .threadPageSingleUser(threadID: threadID, userID: userID, page: page, .noseen)
                } else {
                    return .threadPage(threadID: threadID, page: page, .noseen)
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
            userInfo = [Keys.version: handoffUserInfoVersion]
            guard let route = newValue else { return }
            switch route {
            case .bookmarks: addUserInfoEntries(from: [Keys.bookmarks: true])
            case .forum(id: let forumID): addUserInfoEntries(from: [Keys.forumID: forumID])
            case .message(id: let messageID): addUserInfoEntries(from: [Keys.messageID: messageID])
            case let .threadPage(threadID: threadID, page: page, _):
                addUserInfoEntries(from: [Keys.threadID: threadID])
                if case .specific(let pageNumber) = page { addUserInfoEntries(from: [Keys.page: pageNumber]) }
            case let .threadPageSingleUser(threadID: threadID, userID: userID, page: _, _):
                addUserInfoEntries(from: [Keys.threadID: threadID, Keys.filteredThreadUserID: userID])
            }
            webpageURL = route.httpURL
        }
    }
}

class AwfulURLRouter {
    func route(_ route: AwfulRoute) -> Bool { route != .bookmarks }
}

class PostsPageViewController: UIViewController {
    private let threadID = "123"
    private var currentPage = 1
    private var visiblePostID: String?

    override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)

        let activity = NSUserActivity(activityType: Handoff.ActivityType.browsingPosts)
        activity.route = .threadPage(threadID: threadID, page: .specific(currentPage), .noseen)
        activity.title = "Reading Thread"
        activity.isEligibleForHandoff = true
        activity.isEligibleForSearch = false

        userActivity = activity
        activity.becomeCurrent()
    }

    func updateUserActivity(for page: Int) {
        guard let activity = userActivity else { return }

        activity.addUserInfoEntries(from: [
            Keys.page: page,
            Keys.threadID: threadID,
        ])

        activity.needsSave = true
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        userActivity?.invalidate()
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)

        activity.addUserInfoEntries(from: [
            Keys.threadID: threadID,
            Keys.page: currentPage,
            Keys.postID: visiblePostID as Any,
        ])
    }
}

class AppDelegate: UIResponder, UIApplicationDelegate {
    private let urlRouter = AwfulURLRouter()

    func application(
        _ application: UIApplication,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
    ) -> Bool {

        guard let route = userActivity.route else { return false }

        // Route to appropriate screen
        return urlRouter.route(route)
    }
}

class SceneDelegate: UIResponder, UISceneDelegate {
    private let urlRouter = AwfulURLRouter()
    private let posts = PostsPageViewController()

    func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {
        scene.userActivity = posts.userActivity
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        guard let route = userActivity.route else { return }
        _ = urlRouter.route(route)
    }

    func scene(
        _ scene: UIScene, didFailToContinueUserActivityWithType userActivityType: String, error: Error
    ) {
        posts.updateUserActivity(for: 1)
    }

    func scene(_ scene: UIScene, didUpdate userActivity: NSUserActivity) {
        userActivity.title = "Reading Thread"
    }
}
