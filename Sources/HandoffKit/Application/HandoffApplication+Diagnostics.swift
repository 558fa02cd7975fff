import Dispatch
import Foundation
import HandoffModel

/// Connections, refusals and advice, as an app or its developer gets them.
extension HandoffApplication {
    /// Reports whether there is a connection. A refusal is printed where the app has no handler.
    func report(connected: Bool, _ error: HandoffError?) {
        if let error, error.code != HandoffFailure.connectionUnavailableCode, onConnectionChange == nil {
            Self.complain(error.message)
        }
        callback { $0.onConnectionChange?(connected, error?.cocoaError) }
    }

    /// Reports what a developer should know. A refusal is printed where the app has no handler.
    func report(_ key: UUID?, _ message: String, _ error: HandoffError? = nil) {
        guard onDiagnostic != nil else {
            guard error != nil else { return }
            return Self.complain((key.flatMap(activity).map { "\($0.activityType): " } ?? "") + message)
        }
        callback { $0.onDiagnostic?(key.flatMap($0.activity), message, error?.cocoaError) }
    }

    /// Writes a line to standard error.
    private static func complain(_ message: String) {
        FileHandle.standardError.write(Data("HandoffKit: \(message)\n".utf8))
    }

    /// A delegate that has gone although it is still wanted: nobody has kept it.
    enum LostDelegate: String {
        case application = "the application's delegate"
        case scene = "the scene's delegate"
        case activity = "the delegate of an activity"
    }

    /// Reports, once, that a delegate has been released.
    func warn(_ delegate: LostDelegate) {
        warn("\(delegate.rawValue) has gone, so nothing is told: it is not kept here, keep it in the app")
    }

    /// Reports something once: as other advice, and on standard error where the app has no handler, or the handler cannot be called.
    private func warn(_ message: String, canCallBack: Bool = true) {
        let (isFirst, hasHandler) = lock.withLock { (warnings.insert(message).inserted, diagnosticHandler != nil) }
        guard isFirst else { return }
        if hasHandler, canCallBack { report(nil, message) } else { Self.complain(message) }
    }

    /// Something is called on the main queue: checks, once, that the process services it.
    func usesMainQueue() {
        let checking: AppConnection? = lock.withLock {
            guard mainQueue == .unused, let connection = self.connection else { return nil }
            mainQueue = .unserviced
            return connection
        }
        guard let checking else { return }
        DispatchQueue.main.async { [weak self] in self?.lock.withLock { self?.mainQueue = .serviced } }
        // On the loop: libdispatch's thread for timers would wake up again and again afterwards.
        checking.check(after: configuration.mainQueueTimeout) { [weak self] in
            guard let self, lock.withLock({ mainQueue }) != .serviced else { return }
            let message =
                "callbacks wait for the main queue, which this process does not service: run RunLoop.main.run(), "
                + "dispatchMain() or an asynchronous main, or use callbackQueue and handlers with a queue of their own"
            warn(message, canCallBack: !MainQueue.isMain(callbackQueue))
        }
    }
}

/// Whether the process services the main queue.
enum MainQueueService {
    /// The state until something is called there.
    case unused
    /// The state until the main queue has run something.
    case unserviced
    /// The state afterwards.
    case serviced
}
