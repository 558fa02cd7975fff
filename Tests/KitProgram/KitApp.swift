import Dispatch
import Foundation
import HandoffKit

/// The app: its activities by the names that the test uses, and its state, a number.
///
/// Unchecked Sendable: everything but `release` and `report` is called on the callback queue.
final class KitApp: NSObject, HandoffApplicationDelegate, @unchecked Sendable {
    private static let ownQueue = DispatchSpecificKey<Bool>()

    let queue: DispatchQueue
    /// The content of the activities. Each change of the state increments it.
    private(set) var count = 0
    var activities: [String: NSUserActivity] = [:]
    private var responders: [String: Responder] = [:]
    private(set) var continued: NSUserActivity?
    /// The open documents, by the names that the test uses.
    var documents: [String: HandoffDocument] = [:]
    private var work: (any DispatchSourceTimer)?
    private var ports: [StreamPort] = []
    private var windows: [Window] = []
    private var handling = "accept"
    /// The name of the callback that blocks.
    private var blocked = ""
    private let gate = DispatchSemaphore(value: 0)

    /// Creates an app with a callback queue.
    init(queue: DispatchQueue) {
        self.queue = queue
        super.init()
        queue.setSpecific(key: Self.ownQueue, value: true)
        let shared = HandoffApplication.shared
        shared.callbackQueue = queue
        shared.onConnectionChange = { [unowned self] isConnected, error in
            report(isConnected ? "connected" : "disconnected", error: error)
        }
        shared.onDiagnostic = { [unowned self] activity, message, error in
            report("diagnostic", ["name": name(of: activity), "message": message], error: error)
        }
    }

    // MARK: Output

    /// Prints an event, and where it occurred: on the main thread, on the app's queue, or
    /// elsewhere.
    func report(_ event: String, _ fields: [String: Any?] = [:], error: (any Error)? = nil) {
        var line = fields.compactMapValues { $0 }
        line["event"] = event
        line["where"] =
            Thread.isMainThread ? "main" : DispatchQueue.getSpecific(key: Self.ownQueue) == true ? "queue" : "elsewhere"
        if let error = error as NSError? {
            line["domain"] = error.domain
            line["code"] = error.code
            line["message"] = error.localizedDescription
            line["reason"] = (error.userInfo[NSUnderlyingErrorKey] as? HandoffError)?.reason
        }
        // Not sorted, because sorting would load Foundation's locale tables.
        let data = try? JSONSerialization.data(withJSONObject: line)
        // Unbuffered, and in one piece.
        FileHandle.standardOutput.write((data ?? Data("{\"event\": \"no JSON\"}".utf8)) + Data("\n".utf8))
    }

    /// Unblocks the blocked callback. Any thread.
    func release() { gate.signal() }

    /// Waits for `release` if the test has requested it.
    func block(_ callback: String) {
        guard blocked == callback else { return }
        blocked = ""
        report("blocked", ["in": callback])
        gate.wait()
    }

    /// Returns the test's name for an activity; nil if it has none.
    func name(of activity: NSUserActivity?) -> String? {
        activities.first { $0.value == activity }?.key
    }

    // MARK: Commands

    /// Performs a command.
    func perform(_ line: String) {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let command = object as? [String: Any] else { return report("no command") }
        let name = command["name"] as? String ?? "activity"
        switch command["do"] as? String {
        case "app": configure(command)
        case "start": HandoffApplication.shared.start()
        case "handle":
            handling = command["how"] as? String ?? handling
            HandoffApplication.shared.delegate = self
        case "follow": follow(command["type"] as? String ?? "")
        case "scene": openScene(name, for: command["about"] as? String ?? "")
        case "closures": useClosures(command["type"] as? String ?? "")
        case "publish": publish(name, command)
        case "set": activities[name].map { set($0, command) }
        case "change": changed(name)
        case "work": beginWork(name, perSecond: command["perSecond"] as? Int ?? 1000)
        case "rest": work = nil
        case "resign": activities[name]?.resignCurrent()
        case "current": activities[name]?.becomeCurrent()
        case "invalidate": activities[name]?.invalidate()
        case "forget":
            activities[name] = nil
            responders[name] = nil
        case "block": blocked = command["in"] as? String ?? ""
        case "state": report("state", ["count": count, "userInfo": plain(activities[name]?.userInfo ?? [:])])
        case "typed": readTyped()
        case "stream": stream(command)
        case "document", "files", "close", "access", "fetch", "unaccess": performDocument(name, command)
        case let other: report("no command", ["do": other])
        }
    }

    private func configure(_ command: [String: Any]) {
        HandoffApplication.shared.configuration = HandoffApplication.Configuration(
            identifier: command["identifier"] as? String ?? "com.example.kit", version: "1",
            teamIdentifier: command["team"] as? String, activityTypes: command["types"] as? [String] ?? [])
    }

    private func publish(_ name: String, _ command: [String: Any]) {
        let activity: NSUserActivity
        if let type = command["type"] as? String {
            activity = NSUserActivity(activityType: type)
        } else {
            activity = (Self.self as any FirstDeclared.Type).firstDeclared()
        }
        activities[name] = activity
        activity.delegate = self
        set(activity, command)
        // In seconds of Python's time.monotonic.
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let moment = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
        if command["responder"] as? Bool == true {
            let responder = Responder(self)
            responders[name] = responder
            responder.userActivity = activity
        } else {
            activity.becomeCurrent()
        }
        report("published", ["name": name, "type": activity.activityType, "moment": moment])
    }

    private func set(_ activity: NSUserActivity, _ command: [String: Any]) {
        if let title = command["title"] as? String { activity.title = title }
        if let userInfo = command["userInfo"] as? [String: Any] { activity.userInfo = userInfo }
        if let page = command["webpageURL"] as? String { activity.webpageURL = URL(string: page) }
        if let keys = command["requiredUserInfoKeys"] as? [String] { activity.requiredUserInfoKeys = Set(keys) }
        if let about = command["about"] as? String { activity.targetContentIdentifier = about }
        if let streams = command["streams"] as? Bool { activity.supportsContinuationStreams = streams }
        if let eligible = command["isEligibleForHandoff"] as? Bool { activity.isEligibleForHandoff = eligible }
        if let bytes = command["bytes"] as? Int { activity.addUserInfoEntries(from: ["bytes": Data(count: bytes)]) }
        if let seconds = command["expires"] as? Double { activity.expirationDate = Date(timeIntervalSinceNow: seconds) }
        if let label = command["typed"] as? String {
            try? activity.setTypedPayload(Labelled(label: label, numbers: [1, 2]))
        }
    }

    private func changed(_ name: String) {
        count += 1
        activities[name]?.needsSave = true
    }

    /// Changes the state continuously, like a busy user.
    private func beginWork(_ name: String, perSecond: Int) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: 1 / Double(max(1, perSecond)), leeway: .milliseconds(1))
        timer.setEventHandler { [unowned self] in changed(name) }
        timer.resume()
        work = timer
    }

    private func readTyped() {
        do {
            guard let value = try continued?.typedPayload(Labelled.self) else { return report("typed") }
            report("typed", ["label": value.label, "numbers": value.numbers])
        } catch {
            report("typed", ["failure": "\(error)"])
        }
    }

    // MARK: Continuing

    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        report("willContinue", ["type": userActivityType])
        block("willContinue")
        return true
    }

    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        accept(userActivity, by: "delegate")
        block("continue")
        switch handling {
        case "refuse": return false
        case "restore":
            let responder = Responder(self)
            responders["restored"] = responder
            restorationHandler([responder])
        default: break
        }
        return true
    }

    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        report("didFail", ["type": userActivityType], error: error)
    }

    func application(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity) {
        report("didUpdate", ["name": name(of: userActivity)])
    }

    private func useClosures(_ type: String) {
        let shared = HandoffApplication.shared
        shared.onWillContinue(type, queue: queue) { [unowned self] in report("willContinue", ["type": type]) }
        shared.onContinue(type, queue: queue) { [unowned self] activity in accept(activity, by: "closure") }
        shared.onFail(type, queue: queue) { [unowned self] error in report("didFail", ["type": type], error: error) }
    }

    /// Receives activities in a loop.
    private func follow(_ type: String) {
        let activities = HandoffApplication.shared.continuations(of: type)
        Task { [self] in
            for await activity in activities { queue.async { self.accept(activity, by: "sequence") } }
        }
    }

    /// Opens a window for some content. It becomes the active one.
    private func openScene(_ name: String, for content: String) {
        let window = Window(name, self)
        windows.append(window)
        let scene = HandoffScene(delegate: window)
        scene.activationConditions.prefersToActivateForTargetContentIdentifierPredicate = NSPredicate { text, _ in
            text as? String == content
        }
        HandoffApplication.shared.connect(scene)
        HandoffApplication.shared.activeScene = scene
    }

    func accept(_ activity: NSUserActivity, by receiver: String) {
        continued = activity
        report(
            "continue",
            [
                "by": receiver, "type": activity.activityType, "title": activity.title,
                "userInfo": plain(activity.userInfo ?? [:]), "webpageURL": activity.webpageURL?.absoluteString,
                "streams": activity.supportsContinuationStreams,
            ])
    }

    // MARK: Streams

    private func stream(_ command: [String: Any]) {
        let source = command["of"] as? String
        guard let activity = source.map({ activities[$0] }) ?? continued else {
            return report("stream", ["failure": "none"])
        }
        let text = command["send"] as? String
        if command["async"] as? Bool == true {
            Task { [self] in
                do {
                    let stream = try await activity.continuationByteStream()
                    if let text { try await stream.write(Data(text.utf8)) }
                    stream.finishWriting()
                    var answer = Data()
                    for try await data in stream { answer += data }
                    report("stream", ["answer": String(decoding: answer, as: UTF8.self)])
                } catch {
                    report("stream", error: error)
                }
            }
            return
        }
        activity.getContinuationStreams { [self] input, output, error in
            guard let input, let output else { return report("stream", error: error) }
            report("stream opened")
            ports.append(StreamPort(self, input, output, sends: text))
        }
    }
}

extension KitApp: HandoffActivityDelegate {
    func userActivityWillSave(_ userActivity: NSUserActivity) {
        if work == nil { report("willSave", ["name": name(of: userActivity), "needsSave": userActivity.needsSave]) }
        userActivity.addUserInfoEntries(from: ["count": count])
        block("willSave")
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        report("wasContinued", ["name": name(of: userActivity)])
    }

    func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {
        report("didReceive", ["name": name(of: userActivity)])
        ports.append(StreamPort(self, inputStream, outputStream, sends: nil))
    }
}

/// Returns a value of `userInfo` for the test: unchanged if JSON supports it, otherwise its
/// description.
func plain(_ value: Any) -> Any {
    switch value {
    case let members as [AnyHashable: Any]:
        Dictionary(members.map { ("\($0.key.base)", plain($0.value)) }) { $1 }
    case let elements as [Any]: elements.map(plain)
    case let data as Data: "\(data.count) bytes"
    case is String, is NSNumber, is NSNull: value
    default: "\(type(of: value)) \(value)"
    }
}

/// A typed payload.
struct Labelled: Codable {
    let label: String
    let numbers: [Int]
}

/// Creates the deprecated `NSUserActivity()` without a warning at each build.
protocol FirstDeclared {
    /// Returns an activity of the first type that the app declares.
    static func firstDeclared() -> NSUserActivity
}

extension KitApp: FirstDeclared {
    @available(*, deprecated, message: "Like the initializer that it calls")
    static func firstDeclared() -> NSUserActivity { NSUserActivity() }
}
