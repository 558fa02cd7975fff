import Foundation
import HandoffKit

extension NSUserActivity {
    enum ForumType {
        /// Reading a thread.
        static let browsingPosts = "com.example.forum.browsing-posts"
        /// Viewing the threads of a forum, or the bookmarks.
        static let listingThreads = "com.example.forum.listing-threads"
        static let readingMessage = "com.example.forum.reading-message"

        static let all = [browsingPosts, listingThreads, readingMessage]
    }

    /// The version of the `userInfo` members that this app writes. It reads all versions up to it.
    static let routeVersion = 1

    private enum Key {
        static let bookmarks = "bookmarks"
        static let filteredUserID = "filteredUserID"
        static let forumID = "forumID"
        static let messageID = "messageID"
        static let page = "page"
        static let postID = "postID"
        static let threadID = "threadID"
        static let version = "version"

        static let all = [bookmarks, filteredUserID, forumID, messageID, page, postID, threadID, version]
    }

    /// The activity's place in the app.
    ///
    /// Reading returns nil if a required member of the type is missing, or a later version has
    /// written it. A missing page means the next unread one, a missing post the top of the page.
    /// Writing replaces the members of a former route, and the web page. A route of another type is
    /// not written, because the type of an activity cannot change.
    var route: Route? {
        get {
            let members = userInfo ?? [:]
            // An activity from before versions were introduced has none.
            guard (members[Key.version] as? Int ?? 1) <= Self.routeVersion else { return nil }
            switch activityType {
            case ForumType.browsingPosts:
                guard let thread = members[Key.threadID] as? String else { return nil }
                let page = (members[Key.page] as? Int).flatMap(Page.init(number:)) ?? .nextUnread
                let post = members[Key.postID] as? String
                guard let user = members[Key.filteredUserID] as? String else {
                    return .thread(id: thread, page: page, post: post)
                }
                return .threadOfUser(id: thread, user: user, page: page, post: post)
            case ForumType.listingThreads:
                if members[Key.bookmarks] != nil { return .bookmarks }
                return (members[Key.forumID] as? String).map { .forum(id: $0) }
            case ForumType.readingMessage:
                return (members[Key.messageID] as? String).map { .message(id: $0) }
            default: return nil
            }
        }
        set {
            var members = userInfo ?? [:]
            for key in Key.all { members[key] = nil }
            if let route = newValue {
                guard route.activityType == activityType else { return }
                members.merge(Self.members(of: route)) { $1 }
                members[Key.version] = Self.routeVersion
            }
            userInfo = members
            requiredUserInfoKeys = newValue?.requiredKeys
            webpageURL = newValue?.webURL
        }
    }

    convenience init(_ route: Route) {
        self.init(activityType: route.activityType)
        isEligibleForHandoff = true
        isEligibleForSearch = false
        self.route = route
    }

    private static func members(of route: Route) -> [AnyHashable: Any] {
        switch route {
        case .bookmarks: return [Key.bookmarks: true]
        case .forum(let id): return [Key.forumID: id]
        case .message(let id): return [Key.messageID: id]
        case .thread(let id, let page, let post):
            var members: [AnyHashable: Any] = [Key.threadID: id]
            if case .specific(let number) = page { members[Key.page] = number }
            if let post { members[Key.postID] = post }
            return members
        case .threadOfUser(let id, let user, let page, let post):
            return members(of: .thread(id: id, page: page, post: post)).merging([Key.filteredUserID: user]) { $1 }
        }
    }
}

extension Route {
    var activityType: String {
        switch self {
        case .bookmarks, .forum: NSUserActivity.ForumType.listingThreads
        case .thread, .threadOfUser: NSUserActivity.ForumType.browsingPosts
        case .message: NSUserActivity.ForumType.readingMessage
        }
    }

    fileprivate var requiredKeys: Set<String> {
        switch self {
        case .bookmarks: ["bookmarks"]
        case .forum: ["forumID"]
        case .thread, .threadOfUser: ["threadID"]
        case .message: ["messageID"]
        }
    }
}
