public import Foundation

/// The content that a scene accepts, by the `targetContentIdentifier` of activities. Follows
/// Apple's class of the same name.
///
/// The predicates are evaluated with one `String`, on the application's callback queue. On Linux,
/// Foundation cannot create predicates from format strings; use `NSPredicate(value:)` or
/// `NSPredicate(block:)`.
///
/// Unchecked: the predicates are only accessed with the lock held, and evaluated without it.
public final class UISceneActivationConditions: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var can: NSPredicate?
    private var prefers: NSPredicate?

    /// Creates conditions under which a scene can activate for any content and prefers none.
    public override init() {
        super.init()
    }

    /// A Boolean value that indicates whether the scene can activate for some content; true for all
    /// content by default.
    public var canActivateForTargetContentIdentifierPredicate: NSPredicate {
        get { lock.withLock { can } ?? NSPredicate(value: true) }
        set { lock.withLock { can = newValue } }
    }

    /// A Boolean value that indicates whether the scene is the preferred one for some content, such
    /// as the window that shows it; false for all content by default.
    public var prefersToActivateForTargetContentIdentifierPredicate: NSPredicate {
        get { lock.withLock { prefers } ?? NSPredicate(value: false) }
        set { lock.withLock { prefers = newValue } }
    }

    /// True if any predicate was set.
    var areSet: Bool { lock.withLock { can != nil || prefers != nil } }

    /// Returns whether the scene can activate for this content.
    func canActivate(for identifier: String) -> Bool {
        canActivateForTargetContentIdentifierPredicate.evaluate(with: identifier)
    }

    /// Returns whether the scene is the preferred one for this content, which implies that it can
    /// activate for it.
    func prefersToActivate(for identifier: String) -> Bool {
        prefersToActivateForTargetContentIdentifierPredicate.evaluate(with: identifier)
    }
}
