import Dispatch
import HandoffModel
import LoopIO
import Testing

/// Reports of other threads to a test, in order.
final class Mailbox<Value: Sendable>: Sendable {
    /// No report arrived in time.
    struct Nothing: Error {}

    /// Far more than any of these tests needs. Only a hanging test reaches it.
    private static var timeout: Int { 120 }

    private let values = Locked<[Value]>([])
    private let count = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        values.withLock { $0.append(value) }
        count.signal()
    }

    /// Removes the first value, waiting for it if necessary.
    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> Value {
        let outcome = count.wait(timeout: .now() + .seconds(Self.timeout))
        try #require(outcome == .success, "nothing was reported", sourceLocation: sourceLocation)
        return values.withLock { $0.removeFirst() }
    }

    /// The values that have not been removed.
    var waiting: [Value] { values.withLock { $0 } }
}
