import LoopIO

/// A value that only its loop's thread may touch, on its way through `EventLoop.perform` to a later turn of that thread.
///
/// Proof for `@unchecked`: nothing but `EventLoop.later` makes one, and it gives the value back on the loop's thread only.
private struct LoopBound<Value>: @unchecked Sendable {
    let value: Value
}

extension EventLoop {
    /// Calls `work` after the handler that runs now and before the loop looks at its descriptors again.
    ///
    /// On the loop's thread only, so unlike for `perform` the work may touch what belongs to that thread. Costs no
    /// system call.
    func later(_ work: @escaping () -> Void) {
        checkIsolated()
        let bound = LoopBound(value: work)
        perform { bound.value() }
    }
}
