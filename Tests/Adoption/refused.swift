import HandoffKit

// Must not compile: the state of an actor, captured by a handler that is not called on it.

actor Store {
    private var page = 1

    func begin() {
        HandoffApplication.shared.onContinue("com.example.reading") { activity in
            self.page = activity.userInfo?["page"] as? Int ?? 1
        }
    }
}
