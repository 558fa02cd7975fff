/// Brings values from other threads to a handler on a loop, in their order.
///
/// Unchecked Sendable: `send` is for all threads, the handler is touched on the loop's thread only. Cancel it on the loop
/// once nothing more is of interest: then what the handler owns is released there.
package final class LoopRelay<Value: Sendable>: @unchecked Sendable {
    private let loop: EventLoop
    private var handler: ((Value) -> Void)?

    /// - Parameter handler: called on the loop's thread.
    package init(to loop: EventLoop, handler: @escaping (Value) -> Void) {
        self.loop = loop
        self.handler = handler
    }

    /// Has the handler called with the value.
    package func send(_ value: Value) {
        loop.perform { [self] in handler?(value) }
    }

    /// Values that are on their way arrive no more.
    package func cancel() {
        handler = nil
    }
}
