/// Brings values from other threads to a handler on a loop, in their order.
///
/// Made and cancelled on the loop; `send` is for all threads. Cancel it once nothing more is of interest: then what the handler
/// owns is released there.
package final class LoopRelay<Value: Sendable>: Sendable {
    private let loop: EventLoop
    private let handler: LoopBound<((Value) -> Void)?>

    /// - Parameter handler: called on the loop's thread.
    package init(to loop: EventLoop, handler: @escaping (Value) -> Void) {
        self.loop = loop
        self.handler = LoopBound(handler, on: loop)
    }

    /// Has the handler called with the value.
    package func send(_ value: Value) {
        loop.perform { [self] in handler.value?(value) }
    }

    /// Values that are on their way arrive no more.
    package func cancel() {
        handler.value = nil
    }
}
