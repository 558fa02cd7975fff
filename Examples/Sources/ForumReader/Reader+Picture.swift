import ExampleSupport

extension Reader {
    /// A user-visible title.
    var title: String {
        switch route {
        case .bookmarks: "Bookmarks"
        case .forum(let id): Library.forums.first { $0.id == id }?.name ?? id
        case .thread(let id, _, _): "\(Library.thread(id)?.title ?? id), page \(page ?? 1)"
        case .threadOfUser(let id, let user, _, _): "\(Library.thread(id)?.title ?? id), by \(user)"
        case .message(let id): Library.messages.first { $0.id == id }?.title ?? id
        }
    }

    /// The screen, one string per line.
    var picture: [String] {
        var canvas = Canvas(width: 76, height: 17)
        for (row, line) in content.enumerated() { canvas.write(line, column: 1, row: row + 1) }
        return canvas.framed("ForumReader  \(title)")
    }

    private var content: [String] {
        switch route {
        case .bookmarks: return Library.threads.filter { Library.bookmarks.contains($0.id) }.flatMap(entry) + messages
        case .forum(let id): return Library.threads.filter { $0.forum == id }.flatMap(entry)
        case .message(let id):
            guard let message = Library.messages.first(where: { $0.id == id }) else { return [] }
            return ["from \(message.author)", ""] + message.lines
        case .thread, .threadOfUser:
            let page = page ?? 1
            let first = (page - 1) * ForumThread.pageSize
            let shown = posts.enumerated().dropFirst(first).prefix(ForumThread.pageSize)
            return shown.flatMap { offset, post in
                ["\(offset == topPost ? "▶" : " ") \(post.author)  #\(post.id)", "    \(post.text)", ""]
            } + ["  page \(page) of \(pageCount)"]
        }
    }

    private func entry(_ thread: ForumThread) -> [String] {
        [
            "\(thread.id)  \(thread.title)",
            "     \(thread.posts.count) posts, the last by \(thread.posts.last?.author ?? "-")", "",
        ]
    }

    private var messages: [String] {
        ["Messages"] + Library.messages.map { "  \($0.id)  \($0.title)  (\($0.author))" }
    }
}
