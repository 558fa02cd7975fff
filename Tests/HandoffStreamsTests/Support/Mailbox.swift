import Dispatch
import LoopIO
import Testing
import Timing

/// What other threads report to a test, in its order.
final class Mailbox<Value: Sendable>: Sendable {
    /// Nothing came.
    struct Nothing: Error {}

    /// Far more than any of these tests needs; only a test that hangs gets there.
    private static var timeout: Int { 20 }

    private let values = Locked<[Value]>([])
    private let count = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        values.withLock { $0.append(value) }
        count.signal()
    }

    /// Takes the first value, which may still have to come.
    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> Value {
        let outcome = count.wait(timeout: .now() + .seconds(Self.timeout))
        try #require(outcome == .success, "nothing was reported", sourceLocation: sourceLocation)
        return values.withLock { $0.removeFirst() }
    }

    /// Values that came and were not taken.
    var waiting: [Value] { values.withLock { $0 } }
}
