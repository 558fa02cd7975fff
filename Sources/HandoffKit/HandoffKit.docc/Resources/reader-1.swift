import Foundation

/// A book that is open at a page.
@MainActor
final class Book {
    private var page = 1

    init() {
        show()
    }

    func turn(to page: Int) {
        self.page = page
        show()
    }

    private func show() {
        print("Page \(page)")
    }
}

@main
struct Reader {
    @MainActor static func main() async {
        let book = Book()
        for await line in lines() {
            if let page = Int(line) { book.turn(to: page) }
        }
    }

    /// Returns a sequence of the entered lines, which are read on a separate thread.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
