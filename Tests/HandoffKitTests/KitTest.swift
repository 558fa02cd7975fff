import Dispatch
import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import LoopIO

/// An app, and a simulated daemon. The app's callbacks and its calls to the daemon form one list of
/// events.
///
/// Unchecked Sendable: `note` may be called from any thread. Everything else belongs to the test's
/// thread, which runs the loop.
final class KitTest: @unchecked Sendable {
    let test: LoopTest
    let path: String
    let queue = DispatchQueue(label: "kit-test")
    /// The events in order: names of calls to the daemon, and notes of callbacks.
    private(set) var story: [String] = []
    private(set) var daemon: FakeDaemon?
    /// The activity fields sent to the daemon, with the last value of each.
    private(set) var sent: JSONObject = [:]
    /// Replaces the default reply to a call if it returns true.
    var onCall: (FakeDaemon.Call) -> Bool = { _ in false }
    private var attachment: FakeDaemon.Call?
    private var published = 0
    private var isOver: ([String]) -> Bool = { _ in false }

    /// - Parameter daemonRuns: whether the daemon runs from the start.
    init(daemonRuns: Bool = true) throws {
        test = try LoopTest()
        path = test.folder.file("app.socket")
        if daemonRuns { try startDaemon() }
    }

    /// Returns an application object for this daemon.
    func application(types: [String] = [], callbackQueue: DispatchQueue? = nil) -> HandoffApplication {
        HandoffApplication(
            configuration: HandoffApplication.Configuration(
                identifier: "app", version: "1.2", teamIdentifier: "TEAM", activityTypes: types, socketPath: path),
            callbackQueue: callbackQueue ?? queue)
    }

    /// Adds an event. Any thread.
    func note(_ text: String) {
        test.loop.perform { [self] in
            story.append(text)
            if isOver(story) { test.end() }
        }
    }

    /// Runs until a condition is true.
    func run(until isOver: @escaping ([String]) -> Bool) throws {
        if isOver(story) { return }
        self.isOver = isOver
        try test.run()
    }

    /// Runs until an event has occurred a number of times since the start.
    func run(until text: String, times: Int = 1) throws {
        try run { story in story.count { $0 == text } >= times }
    }

    /// Waits until the callback queue is empty.
    func drainQueue() { queue.sync {} }

    // MARK: The daemon

    func startDaemon() throws {
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        daemon.onCall = { [unowned self] call in
            for (name, value) in (call.parameters["activity"]?.object ?? call.parameters["change"]?.object ?? [:]) {
                sent[name] = value
            }
            // Added like other notes: after those made before the call, and before those that the
            // reply causes.
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

    /// Sends an event to the app.
    func event(_ event: AppEvent) { send(event.json) }

    /// Sends an event of any version of the daemon to the app.
    func send(_ event: JSONObject) { attachment?.reply(event, continues: true) }

    /// The ID of the last published activity.
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

/// Runs blocking code on a thread that no task needs.
func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Result { try body() }) }
    }
    try result.get()
}

/// Notes the calls of an activity's delegate.
final class NotingDelegate: HandoffActivityDelegate, @unchecked Sendable {
    private let kit: KitTest
    private let willSave: (NSUserActivity) -> Void
    /// Receives the streams that another app requests. Set it before they arrive.
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

/// Notes when other devices have continued an activity.
final class DatedDelegate: HandoffActivityDelegate, @unchecked Sendable {
    private let kit: KitTest
    private let stored = Locked<[Date]>([])
    var dates: [Date] { stored.withLock { $0 } }

    init(_ kit: KitTest) { self.kit = kit }

    func userActivityWasContinued(_ userActivity: NSUserActivity) { kit.note("wasContinued") }

    func userActivity(_ userActivity: NSUserActivity, wasContinuedOn deviceName: String, at date: Date) {
        stored.withLock { $0.append(date) }
        kit.note("continued on \(deviceName) at \(Int(date.timeIntervalSince1970))")
    }
}
