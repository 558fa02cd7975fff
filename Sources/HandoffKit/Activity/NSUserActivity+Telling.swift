import Foundation

extension NSUserActivity {
    /// What the delegate is told.
    enum Occasion: Sendable {
        /// The activity is about to be saved.
        case willSave
        /// Another device has continued it.
        case wasContinued
        /// The other app asks for a stream; without a delegate it is closed.
        case didReceive(StreamSocket)
    }

    /// What has to be called for the delegate to be told.
    func tell(_ occasion: Occasion) -> CallbackStep {
        if hasLostDelegate { application.warn(.activity) }
        let delegate = delegate
        // Without one nothing waits for the main queue, which may stand still.
        if delegate == nil || delegate is any HandoffActivityDelegate {
            return .callbackQueue { self.tell(self.delegate as? any HandoffActivityDelegate, occasion) }
        }
        return .mainActor { self.tell(self.delegate, occasion) }
    }

    private func tell(_ delegate: (any HandoffActivityDelegate)?, _ occasion: Occasion) {
        switch occasion {
        case .willSave: delegate?.userActivityWillSave(self)
        case .wasContinued: delegate?.userActivityWasContinued(self)
        case .didReceive(let socket):
            guard let delegate else { return socket.close() }
            let (input, output) = socket.streams()
            delegate.userActivity(self, didReceive: input, outputStream: output)
        }
    }

    @MainActor private func tell(_ delegate: (any NSUserActivityDelegate)?, _ occasion: Occasion) {
        switch occasion {
        case .willSave: delegate?.userActivityWillSave(self)
        case .wasContinued: delegate?.userActivityWasContinued(self)
        case .didReceive(let socket):
            guard let delegate else { return socket.close() }
            let (input, output) = socket.streams()
            delegate.userActivity(self, didReceive: input, outputStream: output)
        }
    }
}
