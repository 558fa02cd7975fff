/// The state of the screen: a route whose page is known, and its contents. A plain value.
struct Reader: Sendable {
    /// The visible place.
    private(set) var route: Route
    /// The post at the top of the window; nil if there are no posts.
    private(set) var topPost: Int?
    /// The number of posts in each thread that this device's user has read.
    private var read: [String: Int] = [:]

    init() {
        route = .bookmarks
    }

    /// Opens a place.
    /// - Returns: false if it does not exist; the state is then unchanged.
    mutating func open(_ route: Route) -> Bool {
        switch route {
        case .bookmarks: break
        case .forum(let id):
            guard Library.forums.contains(where: { $0.id == id }) else { return false }
        case .message(let id):
            guard Library.messages.contains(where: { $0.id == id }) else { return false }
        case .thread(let id, let page, let post):
            return open(id, user: nil, page, post)
        case .threadOfUser(let id, let user, let page, let post):
            return open(id, user: user, page, post)
        }
        self.route = route
        topPost = nil
        return true
    }

    private mutating func open(_ id: String, user: String?, _ page: Page, _ post: String?) -> Bool {
        guard let thread = Library.thread(id) else { return false }
        let posts = thread.posts.filter { user == nil || $0.author == user }
        guard !posts.isEmpty else { return false }
        let last = (posts.count - 1) / ForumThread.pageSize + 1
        let number: Int
        switch page {
        // The thread may be shorter here than on the device that sent the number.
        case .specific(let wanted): number = min(max(wanted, 1), last)
        case .nextUnread: number = user == nil ? min((read[id] ?? 0) / ForumThread.pageSize + 1, last) : 1
        }
        let first = (number - 1) * ForumThread.pageSize
        let end = min(first + ForumThread.pageSize, posts.count)
        let top = post.flatMap { wanted in posts[first..<end].firstIndex { $0.id == wanted } } ?? first
        topPost = top
        if user == nil { read[id] = max(read[id] ?? 0, end) }
        let page = Page.specific(number)
        let shown = posts[top].id
        route =
            user.map { .threadOfUser(id: id, user: $0, page: page, post: shown) }
            ?? .thread(id: id, page: page, post: shown)
        return true
    }

    /// The posts of the open thread, filtered by user if requested.
    var posts: [Post] {
        switch route {
        case .thread(let id, _, _): Library.thread(id)?.posts ?? []
        case .threadOfUser(let id, let user, _, _): Library.thread(id)?.posts.filter { $0.author == user } ?? []
        default: []
        }
    }

    /// The page number; nil if there are no pages.
    var page: Int? { topPost.map { $0 / ForumThread.pageSize + 1 } }

    var pageCount: Int { max((posts.count - 1) / ForumThread.pageSize + 1, 1) }

    /// Returns the same place at another page.
    /// - Returns: nil if there are no pages.
    func route(page number: Int) -> Route? {
        guard let page = Page(number: number) else { return nil }
        switch route {
        case .thread(let id, _, _): return .thread(id: id, page: page, post: nil)
        case .threadOfUser(let id, let user, _, _): return .threadOfUser(id: id, user: user, page: page, post: nil)
        default: return nil
        }
    }

    /// Returns the same place, scrolled by some posts within its page.
    /// - Returns: nil if there are no posts.
    func scrolled(by count: Int) -> Route? {
        guard let top = topPost, let page else { return nil }
        let first = (page - 1) * ForumThread.pageSize
        let bounded = min(max(count, -ForumThread.pageSize), ForumThread.pageSize)
        let last = min(first + ForumThread.pageSize, posts.count) - 1
        let post = posts[min(max(top + bounded, first), last)].id
        switch route {
        case .thread(let id, let page, _): return .thread(id: id, page: page, post: post)
        case .threadOfUser(let id, let user, let page, _):
            return .threadOfUser(id: id, user: user, page: page, post: post)
        default: return nil
        }
    }
}
