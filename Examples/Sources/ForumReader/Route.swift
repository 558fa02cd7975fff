import Foundation

/// A place in the app that any device can show. Contains IDs and numbers, never content.
enum Route: Equatable, Sendable {
    case bookmarks
    case forum(id: String)
    /// A page of a thread, scrolled to the post, if any.
    case thread(id: String, page: Page, post: String?)
    /// A page of one user's posts in a thread.
    case threadOfUser(id: String, user: String, page: Page, post: String?)
    case message(id: String)
}

/// A page of a thread.
enum Page: Equatable, Sendable {
    /// A page number, counted from 1.
    case specific(Int)
    /// The first unread page of the device's user, which each device determines for itself.
    case nextUnread

    /// Creates a page from a number.
    /// - Returns: nil for numbers below 1.
    init?(number: Int) {
        guard number >= 1 else { return nil }
        self = .specific(number)
    }
}

extension Route {
    /// The page on the forum's web site, for devices without the app.
    var webURL: URL? {
        var components = URLComponents()
        components.scheme = "https"
        components.host = "forum.example.com"
        switch self {
        case .bookmarks: components.path = "/bookmarks"
        case .forum(let id):
            components.path = "/forum"
            components.queryItems = [URLQueryItem(name: "id", value: id)]
        case .thread(let id, let page, let post):
            components.path = "/thread"
            components.queryItems = [URLQueryItem(name: "id", value: id), page.queryItem]
            components.fragment = post.map { "post-\($0)" }
        case .threadOfUser(let id, let user, let page, let post):
            components.path = "/thread"
            components.queryItems = [
                URLQueryItem(name: "id", value: id), URLQueryItem(name: "user", value: user), page.queryItem,
            ]
            components.fragment = post.map { "post-\($0)" }
        case .message(let id):
            components.path = "/message"
            components.queryItems = [URLQueryItem(name: "id", value: id)]
        }
        return components.url
    }
}

extension Page {
    /// The page as a query item of the web site.
    fileprivate var queryItem: URLQueryItem {
        switch self {
        case .specific(let number): URLQueryItem(name: "page", value: "\(number)")
        case .nextUnread: URLQueryItem(name: "goto", value: "unread")
        }
    }
}
