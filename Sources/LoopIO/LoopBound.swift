/// A value that belongs to the thread of a loop, inside of something that other threads hold, too.
///
/// Other threads only pass it on. The last of them to let go releases the value; what must not be released there is taken out
/// on the loop before.
///
/// Unchecked: `stored` is only touched on the loop's thread, which every access asserts, or before another thread knows of it.
package final class LoopBound<Value>: @unchecked Sendable {
    /// Unowned: what waits in the inbox of a loop must not keep the loop. Whoever is on its thread does.
    private unowned let loop: EventLoop
    private var stored: Value

    /// Takes a value on the loop's thread; it may be anything that belongs to it.
    package init(_ value: Value, on loop: EventLoop) {
        loop.assertOwned()
        self.loop = loop
        stored = value
    }

    /// Takes a value that nobody else refers to, on any thread.
    package init(sending value: sending Value, to loop: EventLoop) {
        self.loop = loop
        stored = value
    }

    /// The value. On the loop's thread.
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
