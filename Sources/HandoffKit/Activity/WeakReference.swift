import Foundation

/// A weak reference that several threads may read and replace.
///
/// Unchecked Sendable: the lock is held around every access. What is referred to may belong to one thread, and is only called
/// on the callback queue.
final class WeakReference: @unchecked Sendable {
    private let lock = NSLock()
    private weak var stored: AnyObject?

    /// A reference to an object, or none.
    init(_ object: AnyObject? = nil) {
        stored = object
    }

    /// The object; nil when it has gone.
    var object: AnyObject? {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}
