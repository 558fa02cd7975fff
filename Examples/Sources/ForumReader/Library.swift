/// A thread: its title, and its posts, oldest first.
struct ForumThread: Sendable {
    let id: String
    let forum: String
    let title: String
    let posts: [Post]

    static let pageSize = 4
}

struct Post: Equatable, Sendable {
    let id: String
    let author: String
    let text: String
}

struct Message: Sendable {
    let id: String
    let author: String
    let title: String
    let lines: [String]
}

/// The contents of the forum. Every device has them, as if they had been fetched. They are never
/// part of an activity.
enum Library {
    /// The forums by ID, in order.
    static let forums = [
        (id: "kitchen", name: "Kitchen and table"), (id: "trails", name: "Trails and huts"),
        (id: "workshop", name: "The workshop"),
    ]

    static let threads = [
        thread("101", in: "kitchen", "Sourdough that does not rise", 11),
        thread("102", in: "kitchen", "Which pan for a small stove?", 5),
        thread("201", in: "trails", "Three days in the Karwendel", 18),
        thread("202", in: "trails", "Boots: resole or replace?", 7),
        thread("301", in: "workshop", "A bench from one beam", 13),
    ]

    static let bookmarks = ["101", "201"]

    static let messages = [
        Message(
            id: "9", author: "ilse", title: "The hut in June",
            lines: ["There are two beds left from the 12th.", "Shall I take them for us?"]),
        Message(
            id: "12", author: "omar", title: "Your plane",
            lines: ["I have sharpened it.", "Come by when you like, the door is open."]),
    ]

    static func thread(_ id: String) -> ForumThread? { threads.first { $0.id == id } }

    private static func thread(_ id: String, in forum: String, _ title: String, _ count: Int) -> ForumThread {
        let authors = ["ilse", "omar", "wanda", "jun"]
        let sayings = [
            "I had the same, and it was the temperature.", "Do you have a picture of it?",
            "Try it again, and wait longer.",
            "My grandmother would say: less water.", "That is what I did last summer; it held.",
            "No. And yes, a little.",
            "Thank you, this helps.",
        ]
        let posts = (1...count).map { number in
            Post(
                id: "\(id)-\(number)", author: authors[(number * 3 + count) % authors.count],
                text: sayings[(number * 5 + count) % sayings.count])
        }
        return ForumThread(id: id, forum: forum, title: title, posts: posts)
    }
}
