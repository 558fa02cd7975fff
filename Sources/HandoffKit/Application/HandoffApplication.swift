public import Dispatch
import Foundation
import HandoffControl
import HandoffDocuments
import HandoffModel
import LoopIO

/// The app as seen by Handoff: its identity, the activities that it continues, and its connection
/// to `handoffd`. It provides the Handoff part of `UIApplication` and `NSApplication`.
///
/// It connects automatically when an activity becomes current, a delegate is set or a handler is
/// registered. It reconnects after restarts of the daemon and publishes the current activity again.
/// Thread-safe.
///
/// Unchecked: the state is only accessed with the lock held. The lock is never held during a call
/// to other code.
public final class HandoffApplication: @unchecked Sendable {
    /// The application of this process, configured from `Bundle.main`.
    public static let shared = HandoffApplication { Configuration(bundle: .main) }

    /// Receives the daemon's messages about an activity; see `onDiagnostic`.
    public typealias DiagnosticHandler =
        @Sendable (_ activity: NSUserActivity?, _ message: String, _ error: (any Error)?) -> Void
    /// Receives the state of the connection; see `onConnectionChange`.
    public typealias ConnectionHandler = @Sendable (_ isConnected: Bool, _ error: (any Error)?) -> Void

    let lock = NSLock()
    /// Read from the bundle only if the app sets no other configuration first: finding and reading
    /// it maps much of Foundation's code.
    private lazy var currentConfiguration = makeConfiguration()
    private let makeConfiguration: @Sendable () -> Configuration
    private var queue: DispatchQueue
    private var machine = ActivityMachine()
    private var activities: [UUID: WeakActivity] = [:]
    /// The handlers that receive activities of a type in place of the delegate.
    var handlers: [String: Handlers] = [:]
    private var connectionHandler: ConnectionHandler?
    private(set) var diagnosticHandler: DiagnosticHandler?
    private(set) var connection: AppConnection?
    private var thread: LoopThread?
    private var documentService: DocumentService?
    private weak var storedDelegate: (any UIApplicationDelegate)?
    private var hasDelegate = false
    /// The warnings that have been reported and are not repeated.
    var warnings: Set<String> = []
    var mainQueue = MainQueueService.unused
    var storedScene: HandoffScene?
    /// The most recently active scene is first.
    var scenes: [HandoffScene] = []
    /// Continuations whose scene is not known until they arrive. They have not been announced yet.
    var unannounced: Set<ContinuationID> = []
    /// The sequences that receive activities of a type.
    var listeners: [String: [UUID: AsyncStream<NSUserActivity>.Continuation]] = [:]

    /// Creates an application object, for tests and for processes that contain several apps. Other
    /// processes use `shared`.
    /// - Parameters:
    ///   - configuration: the identity and capabilities of the app.
    ///   - callbackQueue: a serial queue; see `callbackQueue`.
    public convenience init(configuration: Configuration, callbackQueue: DispatchQueue = .main) {
        self.init(callbackQueue: callbackQueue) { configuration }
    }

    private init(callbackQueue: DispatchQueue = .main, configuration: @escaping @Sendable () -> Configuration) {
        makeConfiguration = configuration
        queue = callbackQueue
    }

    deinit {
        connection?.end()
        documentService?.end()
        guard let thread else { return }
        // The loop itself may briefly hold the last reference.
        if thread.loop.isOwned { thread.loop.stop() } else { thread.stop() }
    }

    // MARK: Identity

    /// The identity and capabilities of the app. While it is connected, changes of the types are
    /// declared immediately and nothing else changes. A change of name, version, team or socket
    /// reconnects.
    public var configuration: Configuration {
        get { lock.withLock { currentConfiguration } }
        set {
            let isStarted = lock.withLock {
                currentConfiguration = newValue
                return connection != nil
            }
            if isStarted { start() }
        }
    }

    /// The types of activities that the app continues, as in the configuration.
    public var activityTypes: [String] {
        get { configuration.activityTypes }
        set { configuration.activityTypes = newValue }
    }

    /// The type of the activity for which the daemon has started this program, so that the app can
    /// prepare for it; nil if it was started in another way. The activity itself is delivered as
    /// usual.
    public var handoffUserActivityType: String? {
        ProcessEnvironment.value("HANDOFF_ACTIVITY_TYPE").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The serial queue on which nonisolated delegates and responders are called; by default the
    /// main queue. Main-actor delegates and responders are always called on the main queue, which
    /// needs `RunLoop.main.run()`, `dispatchMain()` or an asynchronous `main`. If the main queue is
    /// not serviced for 5 s, a warning is reported.
    public var callbackQueue: DispatchQueue {
        get { lock.withLock { queue } }
        set { lock.withLock { queue = newValue } }
    }

    /// The delegate that receives activities. A weak reference. Setting it connects to the daemon.
    public var delegate: (any UIApplicationDelegate)? {
        get { lock.withLock { storedDelegate } }
        set {
            lock.withLock {
                storedDelegate = newValue
                hasDelegate = newValue != nil
            }
            guard newValue != nil else { return }
            start()
            // A delegate that the app does not retain has been released by then.
            callbackQueue.asyncAfter(deadline: .now() + .milliseconds(100)) { [weak self] in
                if let self, hasLostDelegate { warn(.application) }
            }
        }
    }

    /// True if a delegate was set and has since been released.
    var hasLostDelegate: Bool { lock.withLock { hasDelegate && storedDelegate == nil } }

    // MARK: Connection changes and diagnostics

    /// A handler that is called when the connection to the daemon is established, and once, with
    /// the reason, when there is none. Attempts to reconnect continue.
    public var onConnectionChange: ConnectionHandler? {
        get { lock.withLock { connectionHandler } }
        set {
            // The former handler is released after the lock, because it may call back into this
            // object.
            var former = newValue
            lock.withLock { swap(&connectionHandler, &former) }
        }
    }

    /// A handler that receives messages for developers: the daemon's advice, such as that a payload
    /// is larger than 3 KiB, once per kind of advice and activity; refused activities; and events of a
    /// newer daemon that this version does not know. If it is nil, refusals are printed to standard
    /// error.
    public var onDiagnostic: DiagnosticHandler? {
        get { lock.withLock { diagnosticHandler } }
        set {
            var former = newValue
            lock.withLock { swap(&diagnosticHandler, &former) }
        }
    }

    // MARK: Connection

    /// Connects to the daemon, and stays connected. Rarely needed: publishing, setting a delegate
    /// and registering handlers connect automatically.
    public func start() {
        do throws(Errno) {
            try connected().attach()
        } catch {
            let reason = HandoffError(
                code: HandoffFailure.connectionUnavailableCode, reason: "noThread",
                message: "cannot start the connection to handoffd: \(error)")
            report(connected: false, reason)
        }
    }

    /// Ends the connection. Activities are no longer offered. `start` connects again.
    public func stop() {
        lock.withLock { connection }?.detach()
    }

    /// Returns the connection, creating it on first use.
    func connected() throws(Errno) -> AppConnection {
        lock.lock()
        defer { lock.unlock() }
        if let connection { return connection }
        let thread = try LoopThread(name: "handoff")
        let connection = AppConnection(loop: thread.loop, application: self)
        self.thread = thread
        self.connection = connection
        return connection
    }

    /// Returns the document service, which has its own thread, creating it on first use.
    func documents() throws(Errno) -> DocumentService {
        lock.lock()
        defer { lock.unlock() }
        if let documentService { return documentService }
        let service = try DocumentService(cache: currentConfiguration.documentCache, application: self)
        documentService = service
        return service
    }

    /// The registration to send to the daemon, and the path of the daemon's socket.
    var attachment: (request: AttachRequest, path: String) {
        let (configuration, types) = lock.withLock {
            (currentConfiguration, Set(handlers.keys).union(listeners.keys).sorted())
        }
        return (configuration.request(alsoFor: types), configuration.socketPath ?? AppSocket.path())
    }

    // MARK: Activities

    func becomeCurrent(_ activity: NSUserActivity) {
        let key = activity.key
        let actions = lock.withLock {
            activities[key] = WeakActivity(activity: activity)
            return machine.becameCurrent(key)
        }
        guard !actions.isEmpty else { return }
        start()
        perform(actions)
    }

    func resignCurrent(_ key: UUID) { step { $0.resigned(key) } }

    /// Handles the end of an activity, or the release of its object.
    func activityEnded(_ key: UUID) {
        lock.withLock { activities[key] = nil }
        step { $0.ended(key) }
    }

    func activityChanged(_ key: UUID) { step { $0.changed(key) } }

    func userInfoChanged(_ key: UUID) { step { $0.userInfoChanged(key) } }

    /// Passes an event to the machine, and performs the resulting actions. Any thread.
    func step(_ event: (inout ActivityMachine) -> [ActivityMachine.Action]) {
        perform(lock.withLock { event(&machine) })
    }

    enum Due {
        /// A call to the daemon; nil if there is nothing to send.
        case call(ActivityMachine.Call?)
        /// Look up these URLs in the file system first.
        case files(Set<String>)
    }

    /// Returns the next step for an activity. On the loop's thread.
    /// - Parameter checksFiles: whether to look up files first.
    func nextCall(_ key: UUID, checksFiles: Bool) -> Due {
        // Retained until the lock is released: the `deinit` of an activity calls back into this
        // object.
        let activity = activity(key)
        defer { withExtendedLifetime(activity) {} }
        return lock.withLock {
            // Read under the lock, so that it includes everything the machine considers saved. An
            // activity never calls this object while it holds its own lock.
            let state = activity?.snapshot
            if checksFiles, let state {
                let unknown = state.documents.unknown(in: state.userInfo.value)
                if !unknown.isEmpty { return .files(unknown) }
            }
            return .call(machine.nextCall(key, state?.description, needsSave: state?.needsSave ?? false))
        }
    }

    /// Returns the activity with this ID in the daemon.
    func activity(of id: ActivityID) -> NSUserActivity? {
        lock.withLock { machine.key(of: id).flatMap { activities[$0]?.activity } }
    }

    /// Returns the activity with this key; nil if it has been released or has ended.
    func activity(_ key: UUID) -> NSUserActivity? {
        lock.withLock { activities[key]?.activity }
    }

    private func perform(_ actions: [ActivityMachine.Action]) {
        for action in actions {
            switch action {
            case .save(let key):
                callback { application in application.save(key) }
            case .sync(let key):
                lock.withLock { connection }?.sync(key)
            }
        }
    }

    private func save(_ key: UUID) {
        guard let activity = activity(key), lock.withLock({ machine.saveStarted(key) }) else { return }
        run((activity.save() + [.callbackQueue { self.step { $0.saveEnded(key) } }])[...])
    }

    // MARK: Calling the app

    /// Calls `body` on the callback queue, after all callbacks queued before.
    func callback(_ body: @escaping @Sendable (HandoffApplication) -> Void) {
        let queue = callbackQueue
        if MainQueue.isMain(queue) { usesMainQueue() }
        queue.async { [weak self] in
            if let self { body(self) }
        }
    }

    /// Announces an activity that is being sent.
    func announce(_ id: ContinuationID, _ type: String) {
        callback { application in
            if let step = application.handlers(for: type).willContinue?.step(()) { return application.run([step]) }
            // A scene that receives `willContinue` must also receive the end, so wait until a scene
            // is chosen.
            if application.choosesScene(for: type) {
                application.lock.withLock { _ = application.unannounced.insert(id) }
            } else {
                application.run([application.notify(.willContinue(type))])
            }
        }
    }

    /// Reports that an announced activity fails to arrive.
    func fail(_ id: ContinuationID, _ type: String, _ error: HandoffError) {
        callback { application in
            let cocoaError = error.cocoaError
            let step =
                application.handlers(for: type).fail?.step(cocoaError) ?? application.notify(.didFail(type, cocoaError))
            application.run((application.announcement(of: id, type, nil) + [step])[...])
        }
    }

    /// Delivers an activity that has arrived.
    /// - Parameter reply: receives whether the app has handled it.
    func deliver(_ state: ActivityState, _ continuation: Continuation, reply: @escaping @Sendable (Bool) -> Void) {
        callback { application in
            let activity = NSUserActivity(continued: state, continuation, application: application)
            let recipient = application.recipient(for: activity)
            let first = application.announcement(of: continuation.id, state.type, recipient)
            let steps =
                application.handlerSteps(activity, reply: reply)
                ?? [application.notify(.continue(activity), recipient, reply: reply)]
            application.run((first + steps)[...])
        }
    }
}

private struct WeakActivity {
    weak var activity: NSUserActivity?
}
