import Foundation
import HandoffKit
import Testing

@testable import ForumReader

@Suite struct RouteTests {
    @Test(
        arguments: [
            (Route.bookmarks, "https://forum.example.com/bookmarks"),
            (.forum(id: "trails"), "https://forum.example.com/forum?id=trails"),
            (
                .thread(id: "1 & 2", page: .nextUnread, post: nil),
                "https://forum.example.com/thread?id=1%20%26%202&goto=unread"
            ),
            (
                .thread(id: "123", page: .specific(5), post: "9"),
                "https://forum.example.com/thread?id=123&page=5#post-9"
            ),
            (
                .threadOfUser(id: "123", user: "jun", page: .specific(1), post: nil),
                "https://forum.example.com/thread?id=123&user=jun&page=1"
            ),
            (.message(id: "77"), "https://forum.example.com/message?id=77"),
        ])
    func `a route is read back from its activity`(_ route: Route, _ page: String) {
        let activity = NSUserActivity(route)
        #expect(activity.activityType == route.activityType)
        #expect(activity.route == route)
        #expect(activity.webpageURL?.absoluteString == page)
        #expect(activity.isEligibleForHandoff && !activity.isEligibleForSearch)
        #expect(activity.userInfo?["version"] as? Int == NSUserActivity.routeVersion)
        let keys = Set(activity.userInfo?.keys.compactMap { $0 as? String } ?? [])
        #expect(activity.requiredUserInfoKeys?.isSubset(of: keys) == true)
    }

    private func route(_ type: String, _ userInfo: [AnyHashable: Any]) -> Route? {
        let activity = NSUserActivity(activityType: type)
        activity.userInfo = userInfo
        return activity.route
    }

    @Test func `optional members have defaults`() {
        let posts = NSUserActivity.ForumType.browsingPosts
        #expect(route(posts, ["threadID": "5"]) == .thread(id: "5", page: .nextUnread, post: nil))
        #expect(route(posts, ["threadID": "5", "page": 0]) == .thread(id: "5", page: .nextUnread, post: nil))
        #expect(
            route(posts, ["threadID": "5", "page": "3", "postID": 4]) == .thread(id: "5", page: .nextUnread, post: nil))
        #expect(
            route(posts, ["threadID": "5", "filteredUserID": "jun", "page": 2])
                == .threadOfUser(id: "5", user: "jun", page: .specific(2), post: nil))
        #expect(route(NSUserActivity.ForumType.listingThreads, ["bookmarks": NSNull(), "forumID": "x"]) == .bookmarks)
    }

    @Test func `without a required member there is no route`() {
        for type in NSUserActivity.ForumType.all { #expect(route(type, ["version": 1, "page": 3]) == nil) }
        #expect(route(NSUserActivity.ForumType.browsingPosts, ["threadID": 5]) == nil)
        #expect(route("com.example.other", ["threadID": "5", "forumID": "5", "messageID": "5"]) == nil)
    }

    @Test func `a later version is rejected`() {
        let type = NSUserActivity.ForumType.readingMessage
        #expect(route(type, ["messageID": "5", "version": 1]) == .message(id: "5"))
        #expect(route(type, ["messageID": "5", "version": 2]) == nil)
    }

    @Test func `a new route replaces the former one completely`() {
        let activity = NSUserActivity(.threadOfUser(id: "1", user: "jun", page: .specific(3), post: "1-9"))
        activity.addUserInfoEntries(from: ["mine": true])
        activity.route = .thread(id: "2", page: .nextUnread, post: nil)
        #expect(Set(activity.userInfo?.keys.compactMap { $0 as? String } ?? []) == ["threadID", "version", "mine"])
        #expect(activity.webpageURL?.absoluteString.contains("jun") == false)
        let listing = NSUserActivity(.bookmarks)
        listing.route = .forum(id: "trails")
        #expect(listing.requiredUserInfoKeys == ["forumID"] && listing.route == .forum(id: "trails"))
        // A route of another type needs another activity.
        listing.route = .message(id: "1")
        #expect(listing.route == .forum(id: "trails"))
        listing.route = nil
        #expect(listing.route == nil && listing.webpageURL == nil)
    }

    @Test func `each reader has its own next unread page`() {
        var reader = Reader()
        #expect(reader.open(.thread(id: "201", page: .nextUnread, post: nil)) && reader.page == 1)
        #expect(reader.open(.thread(id: "201", page: .nextUnread, post: nil)) && reader.page == 2)
        #expect(reader.open(.thread(id: "201", page: .specific(Int.max), post: nil)) && reader.page == 5)
        #expect(reader.open(.thread(id: "201", page: .nextUnread, post: nil)) && reader.page == 5)
        #expect(reader.open(.thread(id: "101", page: .specific(2), post: "101-7")) && reader.page == 2)
        #expect(reader.route == .thread(id: "101", page: .specific(2), post: "101-7"))
        // A post on another page is ignored: the top of the page is used.
        #expect(reader.open(.thread(id: "101", page: .specific(1), post: "101-7")) && reader.topPost == 0)
    }

    @Test func `opening an unknown place changes nothing`() {
        var reader = Reader()
        #expect(reader.open(.forum(id: "trails")) && reader.page == nil)
        let missing: [Route] = [
            .forum(id: "none"), .thread(id: "9", page: .nextUnread, post: nil), .message(id: "none"),
            .threadOfUser(id: "201", user: "nobody", page: .specific(1), post: nil),
        ]
        for route in missing { #expect(!reader.open(route) && reader.route == .forum(id: "trails")) }
        #expect(reader.scrolled(by: 1) == nil && reader.route(page: 1) == nil && reader.page == nil)
    }

    @Test func `scrolling stays on the page`() {
        var reader = Reader()
        _ = reader.open(.thread(id: "102", page: .specific(2), post: nil))
        #expect(reader.scrolled(by: Int.max) == .thread(id: "102", page: .specific(2), post: "102-5"))
        _ = reader.open(.thread(id: "102", page: .specific(1), post: nil))
        #expect(reader.scrolled(by: 2) == .thread(id: "102", page: .specific(1), post: "102-3"))
        #expect(reader.scrolled(by: Int.min) == .thread(id: "102", page: .specific(1), post: "102-1"))
    }

    @Test func `every screen has a picture`() {
        var reader = Reader()
        let routes: [Route] = [
            .bookmarks, .forum(id: "workshop"), .message(id: "9"), .thread(id: "201", page: .specific(5), post: nil),
            .threadOfUser(id: "301", user: "omar", page: .specific(1), post: nil),
        ]
        for route in routes {
            #expect(reader.open(route) && !reader.title.isEmpty)
            #expect(Set(reader.picture.map(\.count)) == [78])
        }
    }
}
