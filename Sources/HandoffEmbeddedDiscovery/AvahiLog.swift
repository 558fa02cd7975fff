import CAvahiCore
import HandoffLog
import LoopIO

/// Takes what libavahi-core says, which would go to stderr, into our log at debug.
enum AvahiLog {
    /// The library has one log function without a context for the whole process, hence one logger for all servers.
    private static let logger = Locked<Logger?>(nil)

    static func forward(to logger: Logger, _ functions: cavahicore) {
        self.logger.withLock { $0 = logger }
        functions.set_log_function { _, text in
            guard let text, let logger = AvahiLog.logger.withLock({ $0 }) else { return }
            // Texts may quote names from the network.
            logger.debug("Avahi says something", ["text": String(cString: text)])
        }
    }
}
