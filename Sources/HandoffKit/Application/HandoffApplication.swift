public import Dispatch
import Foundation
import HandoffControl
import HandoffDocuments
import HandoffModel
import LoopIO

/// The app towards Handoff: who it is, which activities it continues, and the connection to `handoffd`. The part that
/// `UIApplication` and `NSApplication` have in Handoff.
///
/// It connects by itself once an activity becomes current, a delegate is set or a handler is registered, and stays connected over
/// restarts of the daemon: what is current then is published again. Everything may be called from any thread.
///
/// Unchecked: the state is only touched with the lock held, which it never is while something is called.
public final class HandoffApplication: @unchecked Sendable {
    /// The application of this process, as `Bundle.main` describes it.
    public static let shared = HandoffApplication { HandoffConfiguration(bundle: .main) }

    /// Gets what the daemon said about an activity; see `onDiagnostic`.
    public typealias DiagnosticHandler =
        @Sendable (_ activity: NSUserActivity?, _ message: String, _ error: (any Error)?) -> Void
    /// Gets whether there is a connection; see `onConnectionChange`.
    public typealias ConnectionHandler = @Sendable (_ isConnected: Bool, _ error: (any Error)?) -> Void

    let lock = NSLock()
    /// Read from the bundle only when nobody gave another before: finding and reading it maps much of Foundation's code.
    private lazy var currentConfiguration = makeConfiguration()
    private let makeConfiguration: @Sendable () -> HandoffConfiguration
    private var queue: DispatchQueue
    private var machine = ActivityMachine()
    private var activities: [UUID: WeakActivity] = [:]
    /// Who takes activities of a type instead of the delegate.
    var handlers: [String: Handlers] = [:]
    private var connectionHandler: ConnectionHandler?
    private(set) var diagnosticHandler: DiagnosticHandler?
    private(set) var connection: AppConnection?
    private var thread: LoopThread?
    private var documentDesk: DocumentService?
    private weak var storedDelegate: (any UIApplicationDelegate)?
    private var hasDelegate = false
    /// What was reported and is not reported again.
    var warnings: Set<String> = []
    var mainQueue = MainQueueService.unused
    var storedScene: HandoffScene?
    /// The one that was active last is first.
    var scenes: [HandoffScene] = []
    /// Continuations whose scene is not known before they arrive: nobody was told yet that they come.
    var unannounced: Set<ContinuationID> = []
    /// The sequences that take activities of a type.
    var listeners: [String: [UUID: AsyncStream<NSUserActivity>.Continuation]] = [:]

    /// Makes an application object: for tests, and for processes that are several apps. Others use `shared`.
    /// - Parameters:
    ///   - configuration: who the app is.
    ///   - callbackQueue: a serial queue; see there.
    public convenience init(configuration: HandoffConfiguration, callbackQueue: DispatchQueue = .main) {
        self.init(callbackQueue: callbackQueue) { configuration }
    }

    private init(callbackQueue: DispatchQueue = .main, configuration: @escaping @Sendable () -> HandoffConfiguration) {
        makeConfiguration = configuration
        queue = callbackQueue
    }

    deinit {
        connection?.end()
        documentDesk?.end()
        guard let thread else { return }
        // The loop may hold the last reference itself, for a moment.
        if thread.loop.isOwned { thread.loop.stop() } else { thread.stop() }
    }

    // MARK: Who it is

    /// Who the app is. Other types are declared at once while it is connected, and nothing else changes by that; with another
    /// name, version, team or socket it connects anew.
    public var configuration: HandoffConfiguration {
        get { lock.withLock { currentConfiguration } }
        set {
            let isStarted = lock.withLock {
                currentConfiguration = newValue
                return connection != nil
            }
            if isStarted { start() }
        }
    }

    /// The types of activities that the app continues: those of the configuration.
    public var activityTypes: [String] {
        get { configuration.activityTypes }
        set { configuration.activityTypes = newValue }
    }

    /// The type of the activity for which the daemon has started this program, from its start on, so that the app can prepare for it;
    /// nil when it was started otherwise. The activity itself comes as to any app.
    public var handoffUserActivityType: String? {
        ProcessEnvironment.value("HANDOFF_ACTIVITY_TYPE").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Where delegates and responders that belong to no actor are called: the main queue unless set. A serial queue. Those of
    /// the main actor are called on the main queue in any case, which needs `RunLoop.main.run()`, `dispatchMain()` or an asynchronous
    /// `main`. A main queue that is not serviced is reported after 5 s.
    public var callbackQueue: DispatchQueue {
        get { lock.withLock { queue } }
        set { lock.withLock { queue = newValue } }
    }

    /// Who takes activities over; not kept. Setting it connects to the daemon.
    public var delegate: (any UIApplicationDelegate)? {
        get { lock.withLock { storedDelegate } }
        set {
            lock.withLock {
                storedDelegate = newValue
                hasDelegate = newValue != nil
            }
            guard newValue != nil else { return }
            start()
            // One that nobody keeps has gone by then.
            callbackQueue.asyncAfter(deadline: .now() + .milliseconds(100)) { [weak self] in
                if let self, hasLostDelegate { warn(.application) }
            }
        }
    }

    /// Whether a delegate was set and has gone since.
    var hasLostDelegate: Bool { lock.withLock { hasDelegate && storedDelegate == nil } }

    // MARK: What it is told

    /// Is called when the connection to the daemon was made, and once when there is none and why; it is tried again all the while.
    public var onConnectionChange: ConnectionHandler? {
        get { lock.withLock { connectionHandler } }
        set {
            // The former one ends after the lock: what it holds may come back here.
            var former = newValue
            lock.withLock { swap(&connectionHandler, &former) }
        }
    }

    /// Is called with what a developer should know: advice of the daemon, such as that a payload is larger than 3 KiB, once for each
    /// kind of advice and activity, and activities that it refused. Refusals are printed to standard error where this is nil.
    public var onDiagnostic: DiagnosticHandler? {
        get { lock.withLock { diagnosticHandler } }
        set {
            var former = newValue
            lock.withLock { swap(&diagnosticHandler, &former) }
        }
    }

    // MARK: Connection

    /// Connects to the daemon, and stays connected. Seldom needed: publishing, a delegate and handlers do it.
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

    /// Ends the connection: nothing is offered any more. `start` connects again.
    public func stop() {
        lock.withLock { connection }?.detach()
    }

    /// The connection, which is made at the first time.
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

    /// The thread for documents, which is made at the first time.
    func documents() throws(Errno) -> DocumentService {
        lock.lock()
        defer { lock.unlock() }
        if let documentDesk { return documentDesk }
        let desk = try DocumentService(cache: currentConfiguration.documentCache, application: self)
        documentDesk = desk
        return desk
    }

    /// What the daemon is told of the app, and where it is.
    var attachment: (request: AttachRequest, path: String) {
        let (configuration, types) = lock.withLock {
            (currentConfiguration, Set(handlers.keys).union(listeners.keys).sorted())
        }
        return (configuration.request(alsoFor: types), configuration.socketPath ?? AppSocket.path())
    }

    // MARK: Activities

    /// An activity became current.
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

    /// An activity is not current any more.
    func resignCurrent(_ key: UUID) { step { $0.resigned(key) } }

    /// An activity has ended, or the object has gone.
    func activityEnded(_ key: UUID) {
        lock.withLock { activities[key] = nil }
        step { $0.ended(key) }
    }

    /// Something about an activity has changed.
    func activityChanged(_ key: UUID) { step { $0.changed(key) } }

    /// The `userInfo` of an activity has changed.
    func userInfoChanged(_ key: UUID) { step { $0.userInfoChanged(key) } }

    /// Tells the machine something, and performs what it decides. Any thread.
    func step(_ event: (inout ActivityMachine) -> [ActivityMachine.Action]) {
        perform(lock.withLock { event(&machine) })
    }

    /// What is due for an activity.
    enum Due {
        /// A call on the daemon; none when there is nothing to tell.
        case call(ActivityMachine.Call?)
        /// Before that, to ask the file system about these URLs.
        case files(Set<String>)
    }

    /// What is due for an activity. On the loop's thread.
    /// - Parameter asksFiles: whether the file system may be asked first.
    func nextCall(_ key: UUID, asksFiles: Bool) -> Due {
        // Held until after the lock: the end of an activity comes back here.
        let activity = activity(key)
        defer { withExtendedLifetime(activity) {} }
        return lock.withLock {
            // Read under the lock, so that what the machine takes for saved is in it. An activity never calls us under its own.
            let state = activity?.snapshot
            if asksFiles, let state {
                let unknown = state.documents.unknown(in: state.userInfo.value)
                if !unknown.isEmpty { return .files(unknown) }
            }
            return .call(machine.nextCall(key, state?.description, needsSave: state?.needsSave ?? false))
        }
    }

    /// Which activity has this id in the daemon.
    func activity(of id: ActivityID) -> NSUserActivity? {
        lock.withLock { machine.key(of: id).flatMap { activities[$0]?.activity } }
    }

    /// The activity of a key; nil when it has gone or ended.
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
        guard let activity = activity(key), lock.withLock({ machine.saveBegan(key) }) else { return }
        run((activity.save() + [.callbackQueue { self.step { $0.saveEnded(key) } }])[...])
    }

    // MARK: Calling the app

    /// Calls something on the callback queue, after everything that was to be called before.
    func callback(_ body: @escaping @Sendable (HandoffApplication) -> Void) {
        let queue = callbackQueue
        if MainQueue.isMain(queue) { usesMainQueue() }
        queue.async { [weak self] in
            if let self { body(self) }
        }
    }

    /// An activity is on its way.
    func announce(_ id: ContinuationID, _ type: String) {
        callback { application in
            if let step = application.handlers(for: type).willContinue?.step(()) { return application.run([step]) }
            // Each scene that is told of a continuation is told its end, too: so it waits until one of them is chosen.
            if application.choosesScene(for: type) {
                application.lock.withLock { _ = application.unannounced.insert(id) }
            } else {
                application.run([application.tell(.willContinue(type))])
            }
        }
    }

    /// An activity does not come.
    func fail(_ id: ContinuationID, _ type: String, _ error: HandoffError) {
        callback { application in
            let cocoaError = error.cocoaError
            let step =
                application.handlers(for: type).fail?.step(cocoaError) ?? application.tell(.didFail(type, cocoaError))
            application.run((application.announcement(of: id, type, nil) + [step])[...])
        }
    }

    /// An activity has arrived.
    /// - Parameter answer: is told whether the app has taken it over.
    func deliver(_ state: ActivityState, _ continuation: Continuation, answer: @escaping @Sendable (Bool) -> Void) {
        callback { application in
            let activity = NSUserActivity(continued: state, continuation, application: application)
            let audience = application.audience(for: activity)
            let first = application.announcement(of: continuation.id, state.type, audience)
            let steps =
                application.handling(activity, answer: answer)
                ?? [application.tell(.continue(activity), audience, answer: answer)]
            application.run((first + steps)[...])
        }
    }
}

/// A reference that does not keep an activity.
private struct WeakActivity {
    weak var activity: NSUserActivity?
}
