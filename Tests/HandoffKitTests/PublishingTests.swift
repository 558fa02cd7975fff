import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

@Suite struct PublishingTests {
    private let kit: KitTest
    private let application: HandoffApplication
    private let activity: NSUserActivity

    init() throws {
        kit = try KitTest()
        application = kit.application()
        activity = NSUserActivity(activityType: "com.example.editing", application: application)
    }

    /// Makes an activity current, and runs until the daemon has its full state.
    private func begin(_ activity: NSUserActivity) throws {
        activity.becomeCurrent()
        let count = kit.story.count
        try kit.run { story in story[count...].contains("BecomeCurrent") }
        try settle()
    }

    /// Runs until a change made now, and all before it, have reached the daemon.
    private func settle() throws {
        kit.drainQueue()
        activity.requiredUserInfoKeys = [UUID().uuidString]
        let count = kit.story.count
        try kit.run { story in story[count...].contains { $0.contains("requiredUserInfoKeys") } }
    }

    @Test func `an activity that becomes current is published with its properties`() throws {
        activity.title = "Letter"
        activity.userInfo = ["page": 3]
        activity.webpageURL = URL(string: "https://example.org/")
        activity.requiredUserInfoKeys = ["page"]
        activity.expirationDate = Date(timeIntervalSinceReferenceDate: 9e8)
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        let attach = try #require(kit.daemon?.parameters(of: "Attach"))
        #expect(attach["app"] == "app" && attach["version"] == "1.2" && attach["team"] == "TEAM")
        let sent = try #require(kit.daemon?.parameters(of: "Publish")?["activity"]?.object)
        #expect(sent["type"] == "com.example.editing" && sent["title"] == "Letter")
        #expect(sent["userInfo"] == .object(["page": 3]) && sent["requiredUserInfoKeys"] == .array(["page"]))
        #expect(sent["webpageURL"] == "https://example.org/" && sent["expirationDate"] == .real(9e8))
        #expect(kit.daemon?.parameters(of: "Publish")?["session"] == "session")
        activity.expirationDate = nil
        activity.targetContentIdentifier = "letter/7"
        try kit.run { [kit] _ in kit.sent["targetContentIdentifier"] == "letter/7" }
        #expect(kit.sent["expires"] == false)
    }

    @Test func `an activity without a date is published without one`() throws {
        try begin(activity)
        let sent = try #require(kit.daemon?.parameters(of: "Publish")?["activity"]?.object)
        #expect(sent["expirationDate"] == nil && kit.sent["expires"] == nil)
    }

    @Test func `becoming current requests one save after it returns`() throws {
        let delegate = NotingDelegate(kit) { $0.userInfo = ["page": 4] }
        activity.delegate = delegate
        kit.queue.sync {
            activity.becomeCurrent()
            activity.becomeCurrent()
            kit.note("returned")
        }
        try kit.run { $0.contains("willSave needsSave=false") && $0.contains("BecomeCurrent") }
        try settle()
        let order = kit.story.filter { $0.hasPrefix("willSave") || $0 == "returned" }
        #expect(order == ["returned", "willSave needsSave=false"])
        // Regardless of the thread order, the daemon has the state that the app has saved.
        let sent = (kit.daemon?.log ?? []).compactMap {
            ($0.parameters["change"] ?? $0.parameters["activity"])?.object?["userInfo"]
        }
        #expect(sent.last == .object(["page": 4]))
        withExtendedLifetime(delegate) {}
    }

    @Test func `becoming current again requests a save only after resigning`() throws {
        let delegate = NotingDelegate(kit)
        activity.delegate = delegate
        try begin(activity)
        activity.becomeCurrent()
        try settle()
        #expect(kit.story.filter { $0.hasPrefix("willSave") }.count == 1)
        activity.resignCurrent()
        try kit.run(until: "ResignCurrent")
        activity.becomeCurrent()
        try kit.run(until: "willSave needsSave=false", times: 2)
        try kit.run(until: "BecomeCurrent", times: 2)
        withExtendedLifetime(delegate) {}
    }

    @Test func `the daemon's save request is answered with the changes`() throws {
        let delegate = NotingDelegate(kit) { $0.userInfo = ["page": 5] }
        activity.delegate = delegate
        try begin(activity)
        activity.delegate = nil
        activity.userInfo = ["page": 6]
        activity.needsSave = true
        try kit.run(until: "Update needsSave=true")
        let saving = NotingDelegate(kit) { $0.addUserInfoEntries(from: ["scroll": 0.5]) }
        activity.delegate = saving
        kit.event(.save(kit.lastID))
        try kit.run(until: "AnswerSave userInfo")
        #expect(
            kit.daemon?.parameters(of: "AnswerSave")?["change"]?.object?["userInfo"]
                == .object(["page": 6, "scroll": 0.5]))
        #expect(!activity.needsSave)
        withExtendedLifetime((delegate, saving)) {}
    }

    @Test func `changes in quick succession are sent once`() throws {
        try begin(activity)
        // While the first update is unanswered, all following changes are combined.
        var held: FakeDaemon.Call?
        let count = kit.story.count
        kit.onCall = { call in
            guard call.member == "Update", held == nil else { return false }
            held = call
            return true
        }
        activity.title = "first"
        try kit.run(until: "Update title")
        for number in 0..<50 {
            activity.title = "title \(number)"
            activity.needsSave = true
        }
        held?.reply()
        try kit.run(until: "Update needsSave=true title")
        #expect(kit.daemon?.parameters(of: "Update")?["change"]?.object?["title"] == "title 49")
        try settle()
        #expect(kit.story[count...].count == 3, "\(kit.story)")
    }

    @Test func `user info is sent only with a save`() throws {
        try begin(activity)
        activity.userInfo = ["page": 7]
        activity.title = "title"
        try kit.run(until: "Update title")
        activity.needsSave = true
        try kit.run(until: "Update needsSave=true")
        kit.event(.save(kit.lastID))
        try kit.run(until: "AnswerSave userInfo")
    }

    @Test func `a save request without changes is answered without the app`() throws {
        let delegate = NotingDelegate(kit)
        activity.delegate = delegate
        try begin(activity)
        let saves = kit.story.filter { $0.hasPrefix("willSave") }.count
        kit.event(.save(kit.lastID))
        try kit.run(until: "AnswerSave")
        #expect(kit.story.filter { $0.hasPrefix("willSave") }.count == saves)
        withExtendedLifetime(delegate) {}
    }

    @Test func `one activity replaces another without a gap`() throws {
        try begin(activity)
        let other = NSUserActivity(activityType: "com.example.reading", application: application)
        other.becomeCurrent()
        try kit.run(until: "BecomeCurrent", times: 2)
        try settle()
        #expect(!kit.story.contains("ResignCurrent"), "\(kit.story)")
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent", times: 3)
        #expect(kit.story.filter { $0.hasPrefix("Publish") }.count == 2)
    }

    @Test func `an activity that is replaced by a refused one is withdrawn`() throws {
        try begin(activity)
        application.onDiagnostic = { [kit] activity, message, error in
            kit.note("\(activity?.activityType ?? "?"): \(message) \((error as NSError?)?.code ?? 0)")
        }
        kit.onCall = { call in
            guard call.member == "Publish" else { return false }
            call.fail("dev.handoff1.InvalidActivity", ["field": "title", "message": "too long", "code": 4608])
            return true
        }
        let other = NSUserActivity(activityType: "com.example.reading", application: application)
        other.becomeCurrent()
        try kit.run { $0.contains("ResignCurrent") && $0.contains("com.example.reading: title: too long 4608") }
        // A change triggers another attempt.
        kit.onCall = { _ in false }
        other.title = "short"
        try kit.run(until: "BecomeCurrent", times: 2)
    }

    @Test func `content too large for a message is refused with a reason and the connection stays`() throws {
        application.onDiagnostic = { [kit] activity, message, error in
            kit.note("\(activity?.activityType ?? "?"): \(message) \((error as NSError?)?.code ?? 0)")
        }
        var deep: Any = "deepest"
        for _ in 0..<30 { deep = ["level": deep] }
        let numbers = [Int](repeating: 0, count: 4096)
        let wide = Dictionary(uniqueKeysWithValues: (0..<20).map { ("\($0)", numbers) })
        let refused: [([AnyHashable: Any], String)] = [
            (["p": Data(count: 800_000)], "4611"), (["deep": deep], "nested"), (wide, "65000 values"),
        ]
        for (number, (userInfo, reason)) in refused.enumerated() {
            let check = #expect(throws: NSError.self) { try NSUserActivity.check(userInfo: userInfo) }
            let activity = NSUserActivity(activityType: "com.example.type\(number)", application: application)
            activity.userInfo = userInfo
            activity.becomeCurrent()
            try kit.run { story in
                story.contains { $0.hasPrefix("com.example.type\(number): userInfo") && $0.contains(reason) }
            }
            // Apart from the size, which includes the type, both messages are the same.
            let words = try #require(check).localizedDescription.prefix { !$0.isNumber }
            let report = kit.story.last { $0.hasPrefix("com.example.type\(number): \(words)") }
            #expect(report?.hasSuffix(" \(try #require(check).code)") == true, "\(kit.story)")
            activity.userInfo = ["page": 1]
            try kit.run(until: "BecomeCurrent", times: 2 * number + 1)
            // The same applies to an activity that is already offered.
            activity.userInfo = userInfo
            let offered = kit.story.count
            activity.needsSave = true
            try kit.run { story in story[offered...].contains("Update needsSave=true") }
            let before = kit.story.count
            kit.event(.save(kit.lastID))
            try kit.run { story in story[before...].contains { $0.contains(reason) } }
            activity.title = "still there \(number)"
            activity.userInfo = ["page": 2]
            activity.needsSave = true
            try kit.run { story in
                kit.sent["title"] == .string("still there \(number)")
                    && story.count { $0 == "BecomeCurrent" } == 2 * number + 2
            }
        }
        #expect(kit.story.count { $0 == "Attach" } == 1)
        #expect(throws: Never.self) { try NSUserActivity.check(userInfo: ["p": Data(count: 700_000)]) }
    }

    @Test(arguments: ["https://example.org/" + String(repeating: "x", count: 2048), "https://me:secret@example.org/"])
    func `a page that cannot be offered withdraws the former one and is reported`(page: String) throws {
        application.onDiagnostic = { [kit] activity, message, error in
            kit.note("\(activity?.title ?? "?"): \(message.prefix { $0 != ":" }) \((error as NSError?)?.code ?? 0)")
        }
        activity.title = "first"
        activity.webpageURL = URL(string: "https://example.org/first")
        try begin(activity)
        activity.title = "second"
        activity.webpageURL = URL(string: page)
        try kit.run { $0.contains("Invalidate") && $0.contains("second: webpageURL 4608") }
        // The title is never combined with the former page, and the next address is offered with
        // all other changes.
        activity.webpageURL = URL(string: "https://example.org/second")
        try kit.run(until: "BecomeCurrent", times: 2)
        let sent = try #require(kit.daemon?.parameters(of: "Publish")?["activity"]?.object)
        #expect(sent["title"] == "second" && sent["webpageURL"] == "https://example.org/second")
        #expect(kit.story.count { $0.hasPrefix("second: webpageURL") } == 1, "\(kit.story)")
    }

    @Test func `a change of the composition of a letter is a change`() throws {
        let kit = try KitTest()
        let activity = NSUserActivity(activityType: "com.example.editing", application: kit.application())
        activity.title = "\u{E9}"
        activity.targetContentIdentifier = "/\u{E9}"
        activity.requiredUserInfoKeys = ["\u{E9}"]
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        activity.title = "e\u{301}"
        try kit.run(until: "Update title")
        activity.targetContentIdentifier = "/e\u{301}"
        try kit.run(until: "Update targetContentIdentifier")
        activity.requiredUserInfoKeys = ["e\u{301}"]
        try kit.run(until: "Update requiredUserInfoKeys")
    }

    @Test func `a long title is shortened`() throws {
        for title in [String(repeating: "ä", count: 600), String(repeating: "👩‍👩‍👧‍👦", count: 100)] {
            let kit = try KitTest()
            let activity = NSUserActivity(activityType: "com.example.editing", application: kit.application())
            activity.title = title
            activity.becomeCurrent()
            try kit.run(until: "BecomeCurrent")
            let sent = try #require(kit.sent["title"]?.string)
            #expect(sent.utf8.count <= 1024 && sent.utf8.count > 990 && sent.hasSuffix("…"))
            #expect(title.hasPrefix(sent.dropLast()), "cut between characters")
            #expect(activity.title == title, "the app reads what it wrote")
        }
    }

    @Test func `a title at the limit is unchanged`() throws {
        activity.title = String(repeating: "ä", count: 512)
        try begin(activity)
        #expect(kit.sent["title"]?.string == activity.title)
    }

    // MARK: Released delegates

    @Test func `a released delegate is reported once`() throws {
        application.onDiagnostic = { [kit] _, message, _ in kit.note(message.prefix { $0 != ":" }.description) }
        application.delegate = NotingApplicationDelegate(kit)
        try kit.run(until: "the application's delegate has been released and receives no callbacks")
        application.activeScene = HandoffScene(delegate: SilentSceneDelegate())
        activity.delegate = NotingDelegate(kit)
        try begin(activity)
        try kit.run(until: "the delegate of an activity has been released and receives no callbacks")
        let type = try #require(ActivityType("com.example.editing"))
        for _ in 0..<2 {
            kit.event(.continue(Sample.continuation, Sample.continued(type: type, title: "one", userInfo: ["page": 1])))
        }
        try kit.run(until: "AnswerContinue false", times: 2)
        try kit.run(until: "the scene's delegate has been released and receives no callbacks")
        kit.drainQueue()
        #expect(
            kit.story.filter { $0.hasSuffix("receives no callbacks") }.sorted() == [
                "the application's delegate has been released and receives no callbacks",
                "the delegate of an activity has been released and receives no callbacks",
                "the scene's delegate has been released and receives no callbacks",
            ])
    }

    @Test func `a removed delegate is not reported`() throws {
        application.onDiagnostic = { [kit] _, message, _ in kit.note("warned: \(message)") }
        let delegate = NotingDelegate(kit)
        activity.delegate = delegate
        activity.delegate = nil
        application.delegate = nil
        try begin(activity)
        try settle()
        #expect(!kit.story.contains { $0.hasPrefix("warned") })
    }

    @Test func `an invalid activity has ended and can be read`() throws {
        activity.title = "title"
        try begin(activity)
        activity.invalidate()
        try kit.run(until: "Invalidate")
        activity.becomeCurrent()
        #expect(activity.title == "title")
        let other = NSUserActivity(activityType: "com.example.reading", application: application)
        try beginAnother(other)
        #expect(kit.story.filter { $0 == "BecomeCurrent" }.count == 2)
    }

    private func beginAnother(_ other: NSUserActivity) throws {
        other.becomeCurrent()
        try kit.run(until: "BecomeCurrent", times: 2)
    }

    @Test func `releasing an activity ends it`() throws {
        do {
            let short = NSUserActivity(activityType: "com.example.short", application: application)
            short.becomeCurrent()
            try kit.run(until: "BecomeCurrent")
            kit.drainQueue()
        }
        try kit.run(until: "Invalidate")
    }

    @Test func `a blocked queue keeps one save for all changes`() throws {
        let delegate = NotingDelegate(kit)
        activity.delegate = delegate
        try begin(activity)
        kit.drainQueue()
        let before = kit.story.count
        kit.queue.suspend()
        for number in 1...10_000 {
            activity.needsSave = true
            activity.userInfo = ["number": number]
            if number.isMultiple(of: 100) { kit.event(.save(kit.lastID)) }
        }
        kit.queue.resume()
        try kit.run { story in story[before...].contains { $0.hasPrefix("AnswerSave") } }
        try settle()
        // Requested while it was blocked, and again if the daemon requested another save
        // afterwards.
        #expect((1...2).contains(kit.story[before...].count { $0.hasPrefix("willSave") }))
        #expect(kit.sent["userInfo"] == ["number": 10_000])
        withExtendedLifetime(delegate) {}
    }

    @Test func `the origin is notified that it was continued`() throws {
        let delegate = NotingDelegate(kit)
        activity.delegate = delegate
        try begin(activity)
        kit.event(.continued(kit.lastID, by: Sample.origin))
        try kit.run(until: "wasContinued")
        withExtendedLifetime(delegate) {}
    }

    @Test func `the origin is notified of the device and the time`() throws {
        let delegate = DatedDelegate(kit)
        activity.delegate = delegate
        try begin(activity)
        let before = Date()
        kit.event(.continued(kit.lastID, by: Sample.origin))
        try kit.run { _ in !delegate.dates.isEmpty }
        #expect((before...Date()).contains(try #require(delegate.dates.first)))
        kit.event(.continued(kit.lastID, by: Sample.origin, at: 1_000_000))
        try kit.run(until: "continued on \(Sample.origin.deviceName) at 1000000")
        #expect(delegate.dates.count == 2 && !kit.story.contains("wasContinued"))
        withExtendedLifetime(delegate) {}
    }

    @Test func `the rule for other devices that keep the activity is sent when it changes`() throws {
        activity.isEligibleForKeeping = true
        try begin(activity)
        #expect(kit.sent["keep"] == true)
        activity.isEligibleForKeeping = false
        try kit.run(until: "Update keep=false")
    }

    @Test func `an expired activity becomes current again as a new one`() throws {
        let delegate = NotingApplicationDelegate(kit)
        application.delegate = delegate
        try begin(activity)
        kit.event(.withdrawn(kit.lastID))
        kit.event(.save(kit.lastID))
        // The preceding events have been handled when the app receives this one.
        kit.event(.willContinue(Sample.continuation, try #require(ActivityType("com.example.other")), Sample.origin))
        try kit.run(until: "will com.example.other")
        #expect(kit.story.filter { $0.hasPrefix("Publish") }.count == 1)
        activity.becomeCurrent()
        try kit.run { story in story.filter { $0.hasPrefix("Publish") }.count == 2 }
        withExtendedLifetime(delegate) {}
    }

    // MARK: Responders

    private final class Page: HandoffResponder {
        let page: Int

        init(_ page: Int) { self.page = page }

        override func updateUserActivityState(_ activity: NSUserActivity) {
            super.updateUserActivityState(activity)
            activity.addUserInfoEntries(from: ["page\(page)": page])
        }
    }

    @Test func `responders write the state from scratch`() throws {
        activity.userInfo = ["old": 1]
        let pages = [Page(1), Page(2)]
        let applicationDelegate = NotingApplicationDelegate(kit)
        application.delegate = applicationDelegate
        let delegate = NotingDelegate(kit) { [kit] in kit.note("\($0.userInfo?.count ?? 0) entries") }
        activity.delegate = delegate
        kit.queue.sync {
            for page in pages { page.userActivity = activity }
        }
        try kit.run { $0.contains("BecomeCurrent") && $0.contains("didUpdate 2") }
        kit.drainQueue()
        #expect(kit.story.filter { $0 == "2 entries" || $0.hasPrefix("didUpdate") } == ["2 entries", "didUpdate 2"])
        #expect(activity.userInfo?["last"] as? Bool == true)
        #expect(activity.userInfo as? [String: Int] == ["page1": 1, "page2": 2, "last": 1])
        withExtendedLifetime((delegate, pages, applicationDelegate)) {}
    }

    @Test func `a save in which no responder writes keeps the user info`() throws {
        let scene = HandoffScene(delegate: nil)
        activity.userInfo = ["page": 3]
        scene.userActivity = activity
        try kit.run(until: "BecomeCurrent")
        try settle()
        #expect(activity.userInfo as? [String: Int] == ["page": 3])
        #expect(kit.sent["userInfo"] == ["page": 3])
        // Setting an empty state is also a write.
        let page = EmptyPage()
        page.userActivity = activity
        activity.needsSave = true
        try kit.run { $0.contains("Update needsSave=true") }
        kit.event(.save(kit.lastID))
        try kit.run { [kit] _ in kit.sent["userInfo"] == [:] }
        withExtendedLifetime((scene, page)) {}
    }

    private final class EmptyPage: HandoffResponder {
        override func updateUserActivityState(_ activity: NSUserActivity) { activity.userInfo = [:] }
    }

    @Test(.timeLimit(.minutes(1))) func `twenty thousand members are set one by one`() throws {
        let delegate = NotingDelegate(kit) { activity in
            for number in 0..<20_000 { activity.userInfo?["\(number)"] = number }
            for number in 4000..<20_000 { activity.userInfo?["\(number)"] = nil }
        }
        activity.delegate = delegate
        activity.becomeCurrent()
        try kit.run { [kit] _ in kit.sent["userInfo"]?.object?.count == 4000 }
        #expect(activity.userInfo?["3999"] as? Double == 3999)
        withExtendedLifetime(delegate) {}
    }

    @Test func `members set in place behave like others`() throws {
        activity.userInfo?["page"] = 1
        activity.addUserInfoEntries(from: ["line": 2])
        activity.userInfo?["page"] = 3
        activity.userInfo?["old"] = true
        activity.userInfo?.removeValue(forKey: "old")
        #expect(activity.userInfo?["page"] as? Double == 3)
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        try settle()
        #expect(kit.sent["userInfo"] == ["page": 3, "line": 2])
        activity.userInfo = nil
        #expect(activity.userInfo?.isEmpty == true)
    }

    @Test func `advice is reported once for each kind`() throws {
        application.onDiagnostic = { [kit] _, message, _ in kit.note("advice: \(message)") }
        kit.onCall = { [kit] call in
            let bytes = kit.story.count
            let advice = "the payload has \(bytes) bytes"
            switch call.member {
            case "Publish": call.reply(AppEvent.published(Sample.activityID(9), advice: advice).json)
            case "Update": call.reply(["advice": .string(bytes > 8 ? "a key is missing" : advice)])
            default: return false
            }
            return true
        }
        activity.becomeCurrent()
        for number in 0..<12 {
            activity.title = "\(number)"
            try kit.run { [kit] _ in kit.sent["title"] == .string("\(number)") }
        }
        try kit.run { $0.contains { $0.hasPrefix("advice: a key") } }
        kit.drainQueue()
        #expect(kit.story.count { $0.hasPrefix("advice") } == 2, "\(kit.story)")
    }

    @Test func `a refusal without a handler is printed`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let kit = try KitTest()
            let activity = NSUserActivity(activityType: "com.example.editing", application: kit.application())
            activity.becomeCurrent()
            try kit.run(until: "BecomeCurrent")
            activity.webpageURL = URL(string: "https://me:secret@example.org/")
            try kit.run(until: "Invalidate")
        }
        let printed = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(printed.contains("HandoffKit: com.example.editing: webpageURL: not a valid web page address"))
        #expect(!printed.contains("secret"))
    }

    @Test func `a responder that releases its activity ends the engagement`() throws {
        let page = Page(1)
        page.userActivity = activity
        try kit.run(until: "BecomeCurrent")
        page.userActivity = nil
        try kit.run(until: "ResignCurrent")
        page.userActivity = activity
        try kit.run(until: "BecomeCurrent", times: 2)
    }

    @Test func `an activity ends with its last responder`() throws {
        do {
            let page = Page(1)
            page.userActivity = activity
            try kit.run(until: "BecomeCurrent")
            kit.drainQueue()
        }
        try kit.run(until: "Invalidate")
    }
}
