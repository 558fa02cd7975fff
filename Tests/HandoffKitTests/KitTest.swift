import Dispatch
import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import LoopIO

/// An app, and a daemon that is played: what the app is told and what the daemon is asked for make one story.
///
/// Unchecked Sendable: `note` is for all threads, everything else belongs to the thread of the test, which runs the loop.
final class KitTest: @unchecked Sendable {
    let test: LoopTest
    let path: String
    let queue = DispatchQueue(label: "kit-test")
    /// What happened, in order: names of the calls on the daemon, and what callbacks have noted.
    private(set) var story: [String] = []
    private(set) var daemon: FakeDaemon?
    /// What the daemon was told of activities, the last of each field.
    private(set) var told: JSONObject = [:]
    /// Answers a call instead of the usual way, when it returns true.
    var onCall: (FakeDaemon.Call) -> Bool = { _ in false }
    private var attachment: FakeDaemon.Call?
    private var published = 0
    private var isOver: ([String]) -> Bool = { _ in false }

    /// - Parameter daemonRuns: whether there is a daemon from the start.
    init(daemonRuns: Bool = true) throws {
        test = try LoopTest()
        path = test.folder.file("app.socket")
        if daemonRuns { try startDaemon() }
    }

    /// An application object at this daemon.
    func application(types: [String] = [], callbackQueue: DispatchQueue? = nil) -> HandoffApplication {
        HandoffApplication(
            configuration: HandoffConfiguration(
                identifier: "app", version: "1.2", teamIdentifier: "TEAM", activityTypes: types, socketPath: path),
            callbackQueue: callbackQueue ?? queue)
    }

    /// Adds to the story. Any thread.
    func note(_ text: String) {
        test.loop.perform { [self] in
            story.append(text)
            if isOver(story) { test.end() }
        }
    }

    /// Runs until something has happened.
    func run(until isOver: @escaping ([String]) -> Bool) throws {
        if isOver(story) { return }
        self.isOver = isOver
        try test.run()
    }

    /// Runs until this has happened, so many times since the beginning.
    func run(until text: String, times: Int = 1) throws {
        try run { story in story.count { $0 == text } >= times }
    }

    /// Waits until the callback queue has done what it had.
    func drainQueue() { queue.sync {} }

    // MARK: The daemon

    func startDaemon() throws {
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        daemon.onCall = { [unowned self] call in
            for (name, value) in (call.parameters["activity"]?.object ?? call.parameters["change"]?.object ?? [:]) {
                told[name] = value
            }
            // By the same way as other notes: behind those that were made before the call, and before what the answer causes.
            note(Self.describe(call))
            if !onCall(call) { answer(call) }
        }
        self.daemon = daemon
    }

    func stopDaemon() {
        attachment = nil
        daemon?.stop()
        daemon = nil
    }

    /// Tells the app that something happened.
    func event(_ event: AppEvent) { attachment?.reply(event.json, continues: true) }

    /// The id that the last activity was published under.
    var lastID: ActivityID { Sample.activityID(UInt8(published)) }

    private func answer(_ call: FakeDaemon.Call) {
        switch call.member {
        case "Attach":
            attachment = call
            call.reply(AppEvent.attached(session: "session").json, continues: true)
        case "Publish":
            published += 1
            call.reply(AppEvent.published(lastID, advice: nil).json)
        case "BecomeCurrent":
            call.reply()
        default: call.reply()
        }
    }

    private static func describe(_ call: FakeDaemon.Call) -> String {
        switch call.member {
        case "Publish":
            let activity = call.parameters["activity"]?.object ?? [:]
            return "Publish needsSave=\(activity["needsSave"]?.bool ?? true)"
        case "Update", "AnswerSave":
            let change = call.parameters["change"]?.object ?? [:]
            let fields = change.keys.sorted().map { key in change[key]?.bool.map { "\(key)=\($0)" } ?? key }
            return ([call.member] + fields).joined(separator: " ")
        case "AnswerContinue": return "AnswerContinue \(call.parameters["handled"]?.bool ?? false)"
        default: return call.member
        }
    }
}

/// Calls something that waits, on a thread that no task needs.
func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Result { try body() }) }
    }
    try result.get()
}

/// Notes what an activity's delegate is told.
final class NotingDelegate: HandoffActivityDelegate, @unchecked Sendable {
    private let kit: KitTest
    private let willSave: (NSUserActivity) -> Void
    /// Gets the streams that another app asks for; set it before they come.
    var received: (InputStream, OutputStream) -> Void = { _, _ in }

    init(_ kit: KitTest, willSave: @escaping (NSUserActivity) -> Void = { _ in }) {
        self.kit = kit
        self.willSave = willSave
    }

    func userActivityWillSave(_ userActivity: NSUserActivity) {
        kit.note("willSave needsSave=\(userActivity.needsSave)")
        willSave(userActivity)
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) { kit.note("wasContinued") }

    func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {
        received(inputStream, outputStream)
        kit.note("didReceive")
    }
}
