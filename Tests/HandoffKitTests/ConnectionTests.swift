import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

@Suite struct ConnectionTests {
    private func following(_ kit: KitTest) -> HandoffApplication {
        let application = kit.application()
        application.onConnectionChange = { [kit] isConnected, error in
            let code = (error as NSError?)?.code ?? 0
            kit.note(isConnected ? "connected" : "not connected \(code)")
        }
        return application
    }

    @Test func `a daemon that is started later is found and the failure is reported once`() throws {
        let kit = try KitTest(daemonRuns: false)
        let application = following(kit)
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        activity.becomeCurrent()
        try kit.run(until: "not connected 4609")
        activity.title = "changed while the daemon was away"
        try kit.startDaemon()
        try kit.run { $0.contains("BecomeCurrent") && $0.contains("connected") }
        #expect(kit.story.filter { $0.contains("connected") } == ["not connected 4609", "connected"])
        #expect(
            kit.daemon?.parameters(of: "Publish")?["activity"]?.object?["title"] == "changed while the daemon was away")
    }

    @Test func `after a restart the current activity is published again`() throws {
        let kit = try KitTest()
        let application = following(kit)
        let former = NSUserActivity(activityType: "com.example.reading", application: application)
        former.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent", times: 2)
        kit.stopDaemon()
        try kit.run(until: "not connected 4609")
        activity.title = "new"
        activity.needsSave = true
        try kit.startDaemon()
        try kit.run(until: "BecomeCurrent", times: 3)
        // Only the current one of the two.
        #expect(kit.daemon?.methods.filter { $0 != "Update" } == ["Attach", "Publish", "BecomeCurrent"])
        #expect(kit.daemon?.parameters(of: "Publish")?["activity"]?.object?["title"] == "new")
        #expect(kit.daemon?.parameters(of: "Publish")?["activity"]?.object?["needsSave"] == true)
        former.becomeCurrent()
        try kit.run(until: "BecomeCurrent", times: 4)
    }

    @Test func `an activity that ended while disconnected is not published`() throws {
        let kit = try KitTest()
        let application = following(kit)
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        kit.stopDaemon()
        try kit.run(until: "not connected 4609")
        activity.invalidate()
        try kit.startDaemon()
        try kit.run(until: "connected", times: 2)
        let other = NSUserActivity(activityType: "com.example.other", application: application)
        other.becomeCurrent()
        try kit.run(until: "BecomeCurrent", times: 2)
        #expect(kit.daemon?.methods.filter { $0 != "Update" } == ["Attach", "Publish", "BecomeCurrent"])
    }

    @Test func `attaching is retried after a refusal`() throws {
        let kit = try KitTest()
        kit.onCall = { [kit] call in
            guard call.member == "Attach", !kit.story.contains("Attach") else { return false }
            call.fail("dev.handoff1.LimitExceeded", ["limit": "apps", "message": "too many apps"])
            return true
        }
        let application = following(kit)
        application.start()
        try kit.run(until: "connected")
        // The app receives the refusal on another queue, which may take longer than the wait before
        // the next attempt.
        #expect(kit.story.filter { $0 != "Attach" } == ["not connected 4608", "connected"])
        #expect(kit.story.count { $0 == "Attach" } == 2)
    }

    @Test func `an app can read the type for which it was started`() async throws {
        #expect(HandoffApplication.shared.handoffUserActivityType == nil)
        await #expect(processExitsWith: .success) {
            setenv("HANDOFF_ACTIVITY_TYPE", "com.example.editing", 1)
            exit(HandoffApplication.shared.handoffUserActivityType == "com.example.editing" ? 0 : 1)
        }
    }

    @Test func `removed handlers receive nothing and their type is no longer declared`() throws {
        let kit = try KitTest()
        let application = kit.application(types: ["com.example.reading"])
        let delegate = NotingApplicationDelegate(kit)
        application.delegate = delegate
        for type in ["com.example.reading", "com.example.editing"] {
            application.onContinue(type, queue: kit.queue) { [kit] _ in kit.note("handler") }
            application.onWillContinue(type, queue: kit.queue) { [kit] in kit.note("handler") }
        }
        try kit.run { _ in
            (kit.daemon?.parameters(of: "Declare") ?? kit.daemon?.parameters(of: "Attach"))?["types"]?.array?.count == 2
        }
        for type in ["com.example.reading", "com.example.editing"] { application.removeHandlers(type) }
        try kit.run { _ in kit.daemon?.parameters(of: "Declare")?["types"] == ["com.example.reading"] }
        let type = try #require(ActivityType("com.example.reading"))
        kit.event(.continue(Sample.continuation, Sample.continued(type: type, title: "one", userInfo: [:])))
        try kit.run(until: "AnswerContinue false")
        #expect(!kit.story.contains("handler"))
        withExtendedLifetime(delegate) {}
    }

    @Test func `an app can stop and start again`() throws {
        let kit = try KitTest()
        let application = following(kit)
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        application.stop()
        application.start()
        try kit.run(until: "BecomeCurrent", times: 2)
    }

    @Test func `types change within the session`() throws {
        let kit = try KitTest()
        let application = following(kit)
        let type = try #require(ActivityType("com.example.scene"))
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        application.onFail("com.example.scene") { [kit] in kit.note("fail \($0.localizedDescription)") }
        application.onContinue("com.example.scene") { [kit] activity in kit.note("continue \(activity.title ?? "-")") }
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        kit.event(.willContinue(Sample.continuation, type, Sample.origin))
        application.onWillContinue("com.example.second") {}
        application.activityTypes = ["com.example.first"]
        try kit.run { _ in
            kit.daemon?.parameters(of: "Declare")?["types"]
                == .array(["com.example.first", "com.example.scene", "com.example.second"])
        }
        kit.event(.continue(Sample.continuation, Sample.continued(type: type, title: "Letter", userInfo: ["page": 3])))
        try kit.run(until: "AnswerContinue true")
        #expect(kit.daemon?.parameters(of: "Declare")?["session"] == "session")
        #expect(kit.story.count { $0 == "Attach" || $0 == "connected" } == 2)
        #expect(kit.story.count { $0.hasPrefix("Publish") } == 1)
        #expect(kit.story.contains("continue Letter") && !kit.story.contains { $0.hasPrefix("fail") })
        #expect(!kit.story.contains("Invalidate"))
        withExtendedLifetime(activity) {}
    }

    @Test func `versions are attached and change within the session`() throws {
        let kit = try KitTest()
        let application = following(kit)
        application.configuration.activityTypes = ["com.example.editing"]
        application.configuration.versions = ["com.example.editing": HandoffVersionRange(minimum: "2.0")]
        application.start()
        try kit.run(until: "connected")
        application.configuration.versions["com.example.editing"] = HandoffVersionRange(maximum: "3")
        try kit.run(until: "Declare")
        #expect(
            kit.daemon?.parameters(of: "Attach")?["versions"]
                == .array([["type": "com.example.editing", "minimumVersion": "2.0"]]))
        #expect(
            kit.daemon?.parameters(of: "Declare")?["versions"]
                == .array([["type": "com.example.editing", "maximumVersion": "3"]]))
        #expect(kit.story.count { $0 == "Attach" } == 1)
    }

    @Test func `types that change while it attaches are declared then and later`() throws {
        let kit = try KitTest()
        var held: FakeDaemon.Call?
        kit.onCall = { call in
            guard call.member == "Attach", held == nil else { return false }
            held = call
            return true
        }
        let application = following(kit)
        application.start()
        try kit.run(until: "Attach")
        application.onContinue("com.example.scene") { _ in }
        held?.reply(AppEvent.attached(session: "session").json, continues: true)
        try kit.run(until: "Declare")
        kit.stopDaemon()
        try kit.run(until: "not connected 4609")
        try kit.startDaemon()
        try kit.run(until: "Attach", times: 2)
        #expect(kit.daemon?.parameters(of: "Attach")?["types"] == .array(["com.example.scene"]))
    }

    @Test func `types that are refused are a diagnostic`() throws {
        let kit = try KitTest()
        kit.onCall = { call in
            guard call.member == "Declare" else { return false }
            call.fail("dev.handoff1.LimitExceeded", ["limit": "types", "message": "too many types"])
            return true
        }
        let application = following(kit)
        application.onDiagnostic = { [kit] _, message, _ in kit.note(message) }
        application.start()
        try kit.run(until: "connected")
        application.onContinue("com.example.scene") { _ in }
        try kit.run { $0.contains { $0.contains("too many types") } }
        #expect(kit.story.count { $0 == "Attach" } == 1)
    }

    @Test func `an event of a newer daemon is skipped, which is a diagnostic`() throws {
        let kit = try KitTest()
        let application = following(kit)
        application.onDiagnostic = { [kit] _, message, error in kit.note("\(message), error: \(error != nil)") }
        application.start()
        try kit.run(until: "connected")
        kit.send(["event": "thought", "text": "new"])
        try kit.run(until: "skipped the unknown event 'thought' of a newer handoffd, error: false")
        #expect(kit.story.count { $0 == "Attach" } == 1)
    }

    @Test func `an app with another name attaches again`() throws {
        let kit = try KitTest()
        let application = following(kit)
        application.start()
        try kit.run(until: "connected")
        application.configuration.identifier = "other"
        try kit.run(until: "connected", times: 2)
        #expect(kit.daemon?.parameters(of: "Attach")?["app"] == "other")
    }

    private static let infoPlist = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>CFBundleIdentifier</key><string>com.example.app</string>
        <key>CFBundleShortVersionString</key><string>2.0</string>
        <key>HandoffTeamID</key><string>TEAM</string>
        <key>NSUserActivityTypes</key><array><string>com.example.editing</string></array>
        <key>HandoffActivityVersions</key><dict>
        <key>com.example.editing</key><dict><key>minimumVersion</key><string>2.0</string></dict></dict>
        </dict></plist>
        """

    @Test func `a configuration is read from an info plist`() throws {
        let kit = try KitTest(daemonRuns: false)
        try kit.test.folder.write(Self.infoPlist, to: "Info.plist")
        let bundle = try #require(Bundle(path: kit.test.folder.path))
        var expected = HandoffApplication.Configuration(
            identifier: "com.example.app", version: "2.0", teamIdentifier: "TEAM",
            activityTypes: ["com.example.editing"])
        expected.versions = ["com.example.editing": HandoffVersionRange(minimum: "2.0")]
        #expect(HandoffApplication.Configuration(bundle: bundle) == expected)
    }

    @Test(arguments: [
        ("reader", "reader"), ("My App", "My_App"), (".hidden", "_.hidden"), ("-x", "_-x"), ("a/b$c", "a_b_c"),
        ("é", "__"),
    ])
    func `a program with any name has an identifier`(name: String, identifier: String) {
        #expect(HandoffApplication.Configuration.identifier(ofProgram: name) == identifier)
    }

    @Test func `programs in one folder have separate Info plists`() throws {
        let kit = try KitTest(daemonRuns: false)
        let folder = kit.test.folder
        try FileManager.default.createDirectory(
            atPath: folder.path + "/app.resources", withIntermediateDirectories: false)
        try folder.write(Self.infoPlist, to: "app.resources/Info.plist")
        let dictionary = try #require(HandoffApplication.Configuration.infoDictionary(ofProgram: folder.path + "/app"))
        #expect(dictionary["CFBundleIdentifier"] as? String == "com.example.app")
        #expect(dictionary["NSUserActivityTypes"] as? [String] == ["com.example.editing"])
        #expect(HandoffApplication.Configuration.infoDictionary(ofProgram: folder.path + "/other") == nil)
        try folder.write("no property list", to: "app.resources/Info.plist")
        #expect(HandoffApplication.Configuration.infoDictionary(ofProgram: folder.path + "/app") == nil)
    }

    @Test func `an Info plist generated by the plugin is found next to the program`() throws {
        let kit = try KitTest(daemonRuns: false)
        let folder = kit.test.folder
        for name in ["reader_app.resources", "reader_otherapp.resources", "reader_none.resources"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: false)
        }
        try folder.write(Self.infoPlist, to: "reader_app.resources/Handoff-Info.plist")
        let dictionary = try #require(HandoffApplication.Configuration.infoDictionary(ofProgram: folder.path + "/app"))
        #expect(dictionary["CFBundleIdentifier"] as? String == "com.example.app")
        for name in ["otherapp", "none", "pp"] {
            #expect(HandoffApplication.Configuration.infoDictionary(ofProgram: folder.path + "/" + name) == nil)
        }
    }
}
