/// Delivers values from other threads to a handler on a loop, in the order they were sent.
///
/// Create and cancel it on the loop; `send` may be called on any thread. Cancel it when finished,
/// to release the handler's captures on the loop.
package final class LoopRelay<Value: Sendable>: Sendable {
    private let loop: EventLoop
    private let handler: LoopBound<((Value) -> Void)?>

    /// - Parameter handler: called on the loop's thread.
    package init(to loop: EventLoop, handler: @escaping (Value) -> Void) {
        self.loop = loop
        self.handler = LoopBound(handler, on: loop)
    }

    /// Calls the handler with the value on the loop's thread.
    package func send(_ value: Value) {
        loop.perform { [self] in handler.value?(value) }
    }

    /// Stops delivery, including that of values in transit.
    package func cancel() {
        handler.value = nil
    }
}
