import Dispatch
import Foundation
import HandoffModel

/// Reports on connections, refusals and advice to the app or its developer.
extension HandoffApplication {
    /// Reports whether the app is connected. A refusal is printed if the app has no handler.
    func report(connected: Bool, _ error: HandoffError?) {
        if let error, error.code != HandoffFailure.connectionUnavailableCode, onConnectionChange == nil {
            Self.writeLine(error.message)
        }
        callback { $0.onConnectionChange?(connected, error?.cocoaError) }
    }

    /// Reports a diagnostic for the developer. A refusal is printed if the app has no handler.
    func report(_ key: UUID?, _ message: String, _ error: HandoffError? = nil) {
        guard onDiagnostic != nil else {
            guard error != nil else { return }
            return Self.writeLine((key.flatMap(activity).map { "\($0.activityType): " } ?? "") + message)
        }
        callback { $0.onDiagnostic?(key.flatMap($0.activity), message, error?.cocoaError) }
    }

    private static func writeLine(_ message: String) {
        FileHandle.standardError.write(Data("HandoffKit: \(message)\n".utf8))
    }

    /// A delegate that was released while still needed, because the app did not retain it.
    enum LostDelegate: String {
        case application = "the application's delegate"
        case scene = "the scene's delegate"
        case activity = "the delegate of an activity"
    }

    /// Warns, once, that a delegate has been released.
    func warn(_ delegate: LostDelegate) {
        warn(
            "\(delegate.rawValue) has been released and receives no callbacks: HandoffKit's reference is weak, "
                + "so keep one in the app")
    }

    /// Issues a warning once, as a diagnostic. Prints it to standard error if the app has no
    /// handler or the handler cannot be called.
    private func warn(_ message: String, canCallBack: Bool = true) {
        let (isFirst, hasHandler) = lock.withLock { (warnings.insert(message).inserted, diagnosticHandler != nil) }
        guard isFirst else { return }
        if hasHandler, canCallBack { report(nil, message) } else { Self.writeLine(message) }
    }

    /// Records that a callback uses the main queue. Checks, once, that the process services it.
    func usesMainQueue() {
        let checking: AppConnection? = lock.withLock {
            guard mainQueue == .unused, let connection = self.connection else { return nil }
            mainQueue = .unserviced
            return connection
        }
        guard let checking else { return }
        DispatchQueue.main.async { [weak self] in self?.lock.withLock { self?.mainQueue = .serviced } }
        // On the loop, because libdispatch's timer thread would keep waking up afterwards.
        checking.check(after: configuration.mainQueueTimeout) { [weak self] in
            guard let self, lock.withLock({ mainQueue }) != .serviced else { return }
            let message =
                "callbacks wait for the main queue, which this process does not service: run RunLoop.main.run(), "
                + "dispatchMain() or an asynchronous main, or use callbackQueue and handlers with a queue of their own"
            warn(message, canCallBack: !MainQueue.isMain(callbackQueue))
        }
    }
}

/// The service state of the main queue.
enum MainQueueService {
    /// No callback has used it.
    case unused
    /// A callback is queued, but the main queue has not run one yet.
    case unserviced
    /// The main queue has run a callback.
    case serviced
}
