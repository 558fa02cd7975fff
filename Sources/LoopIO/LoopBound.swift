/// A value that belongs to a loop's thread, inside an object that other threads hold too.
///
/// Other threads only pass the object on. The thread that releases the last reference also releases
/// the value. A value that must not be released elsewhere is removed on the loop first.
///
/// Unchecked: `stored` is accessed on the loop's thread only, which every access asserts, or before
/// any other thread has a reference.
package final class LoopBound<Value>: @unchecked Sendable {
    /// Unowned, so that pending work in a loop's inbox does not retain the loop. Code on the loop's
    /// thread retains it.
    private unowned let loop: EventLoop
    private var stored: Value

    /// Stores a value on the loop's thread. It may be anything that belongs to that thread.
    package init(_ value: Value, on loop: EventLoop) {
        loop.assertOwned()
        self.loop = loop
        stored = value
    }

    /// Stores a value that has no other references. May be called on any thread.
    package init(sending value: sending Value, to loop: EventLoop) {
        self.loop = loop
        stored = value
    }

    /// The value. Accessible on the loop's thread only.
    package var value: Value {
        get {
            loop.assertOwned()
            return stored
        }
        set {
            loop.assertOwned()
            stored = newValue
        }
    }
}
