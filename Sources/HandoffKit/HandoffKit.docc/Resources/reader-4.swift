import Foundation
import HandoffKit

/// A book that is open at a page.
@MainActor
final class Book: NSUserActivityDelegate {
    static let reading = "com.example.reader.reading"

    private let activity = NSUserActivity(activityType: reading)
    private var page = 1

    init() {
        activity.title = "A book"
        activity.requiredUserInfoKeys = ["page"]
        activity.delegate = self
        activity.becomeCurrent()
        show()
    }

    func turn(to page: Int) {
        self.page = page
        activity.needsSave = true
        show()
    }

    func userActivityWillSave(_ userActivity: NSUserActivity) {
        userActivity.addUserInfoEntries(from: ["page": page, "version": 1])
    }

    /// Resumes at the page that was open on the other device.
    func resume(_ userActivity: NSUserActivity) {
        guard let version = userActivity.userInfo?["version"] as? Int, version == 1,
            let page = userActivity.userInfo?["page"] as? Int
        else {
            return print("The other reader has a different version.")
        }
        turn(to: page)
    }

    private func show() {
        print("Page \(page)")
    }
}

@main
struct Reader {
    @MainActor static func main() async {
        let book = Book()
        HandoffApplication.shared.onContinue(Book.reading) { activity in
            book.resume(activity)
        }
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
