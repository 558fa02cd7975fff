import HandoffKit

// Must not compile: actor state captured by a handler that is not called on the actor.

actor Store {
    private var page = 1

    func begin() {
        HandoffApplication.shared.onContinue("com.example.reading") { activity in
            self.page = activity.userInfo?["page"] as? Int ?? 1
        }
    }
}
