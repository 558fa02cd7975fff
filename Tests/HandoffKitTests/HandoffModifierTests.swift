import HandoffKit
import HandoffTesting
import Testing

private let editing = "com.example.editing"
private let viewing = "com.example.viewing"

/// A view in a small view layer, recreated at each update.
private struct PageView: HandoffModifiable {
    var modifiers: [HandoffModifier] = []

    func modifier(_ modifier: HandoffModifier) -> PageView { PageView(modifiers: modifiers + [modifier]) }
}

@MainActor private final class Model {
    var page = 1
    var isActive = true
    var selection: String?
    var taken: [Int] = []

    var view: PageView {
        PageView()
            .userActivity(editing, isActive: isActive) { [self] activity in
                activity.title = "Page \(page)"
                activity.userInfo = ["page": page]
            }
            .userActivity(viewing, element: selection) { name, activity in activity.title = name }
            .onContinueUserActivity(editing) { [self] activity in
                taken.append(activity.userInfo?["page"] as? Int ?? 0)
            }
    }
}

@Suite @MainActor struct HandoffModifierTests {
    private let laptop: LoopbackDevice
    private let desk: LoopbackDevice
    private let application: HandoffApplication
    private let model = Model()

    init() throws {
        let loopback = try HandoffLoopback()
        desk = try loopback.device("Desk")
        laptop = try loopback.device("Laptop")
        application = desk.application()
    }

    /// Waits for a condition. The time limit of the test also ends this.
    private func wait(until isSo: () -> Bool) async throws {
        while !isSo() { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test(.timeLimit(.minutes(1))) func `an active view is offered in its current state`() async throws {
        let host = HandoffModifierHost(application: application)
        host.update(model.view.modifiers)
        #expect(try await laptop.offer(of: editing).title == "Page 1")
        model.page = 2
        host.update(model.view.modifiers)
        // The change reaches the device asynchronously, and is saved before it is sent.
        var pages: [Int] = []
        while pages.last != 2 {
            try Task.checkCancellation()
            pages.append(try #require(try await laptop.take(editing).userInfo["page"] as? Int))
        }
        model.isActive = false
        host.update(model.view.modifiers)
        try await wait { self.laptop.offers.isEmpty }
        model.isActive = true
        host.update(model.view.modifiers)
        try await laptop.offer(of: editing)
    }

    @Test(.timeLimit(.minutes(1))) func `an element is offered while it is set`() async throws {
        let host = HandoffModifierHost(application: application)
        model.isActive = false
        model.selection = "a map"
        host.update(model.view.modifiers)
        #expect(try await laptop.offer(of: viewing).title == "a map")
        model.selection = nil
        host.update(model.view.modifiers)
        try await wait { self.laptop.offers.isEmpty }
    }

    @Test(.timeLimit(.minutes(1))) func `a view receives activities until it is removed`() async throws {
        var host: HandoffModifierHost? = HandoffModifierHost(application: application)
        host?.update(model.view.modifiers)
        try await desk.hand(LoopbackActivity(activityType: editing, userInfo: ["page": 6]))
        try await wait { self.model.taken == [6] }
        try await laptop.offer(of: editing)
        host = nil
        try await wait { self.laptop.offers.isEmpty }
    }

    @Test(.timeLimit(.minutes(1))) func `an activity ends when its modifier is removed`() async throws {
        let host = HandoffModifierHost(application: application)
        host.update(model.view.modifiers)
        try await laptop.offer(of: editing)
        host.update([])
        try await wait { self.laptop.offers.isEmpty }
    }
}
