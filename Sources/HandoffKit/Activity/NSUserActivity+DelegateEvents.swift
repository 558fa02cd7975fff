import Foundation

extension NSUserActivity {
    enum DelegateEvent: Sendable {
        case willSave
        /// Another device has continued the activity, at a time.
        case wasContinued(deviceName: String, Date)
        /// The other app requests a stream, which is closed if there is no delegate.
        case didReceive(StreamSocket)
    }

    /// Returns the call that notifies the delegate.
    func notify(_ event: DelegateEvent) -> CallbackStep {
        if hasLostDelegate { application.warn(.activity) }
        let delegate = delegate
        // Without a delegate, do not wait for the main queue, which may be blocked.
        if delegate == nil || delegate is any HandoffActivityDelegate {
            return .callbackQueue { self.notify(self.delegate as? any HandoffActivityDelegate, event) }
        }
        return .mainActor { self.notify(self.delegate, event) }
    }

    private func notify(_ delegate: (any HandoffActivityDelegate)?, _ event: DelegateEvent) {
        switch event {
        case .willSave: delegate?.userActivityWillSave(self)
        case .wasContinued(let device, let date): delegate?.userActivity(self, wasContinuedOn: device, at: date)
        case .didReceive(let socket):
            guard let delegate else { return socket.close() }
            let (input, output) = socket.streams()
            delegate.userActivity(self, didReceive: input, outputStream: output)
        }
    }

    @MainActor private func notify(_ delegate: (any NSUserActivityDelegate)?, _ event: DelegateEvent) {
        switch event {
        case .willSave: delegate?.userActivityWillSave(self)
        case .wasContinued(let device, let date): delegate?.userActivity(self, wasContinuedOn: device, at: date)
        case .didReceive(let socket):
            guard let delegate else { return socket.close() }
            let (input, output) = socket.streams()
            delegate.userActivity(self, didReceive: input, outputStream: output)
        }
    }
}
