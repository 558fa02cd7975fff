public import Foundation

/// For which content a scene is, by the `targetContentIdentifier` of activities. Follows Apple's class of the same name.
///
/// The predicates are asked for one `String`, on the application's callback queue. Foundation has no predicates of format strings on
/// Linux: `NSPredicate(value:)` and `NSPredicate(block:)` make them.
///
/// Unchecked: the predicates are only touched with the lock held, and asked without it.
public final class UISceneActivationConditions: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var can: NSPredicate?
    private var prefers: NSPredicate?

    /// Conditions under which a scene can take everything, and prefers nothing.
    public override init() {
        super.init()
    }

    /// Whether the scene can take an activity about some content: every one unless set.
    public var canActivateForTargetContentIdentifierPredicate: NSPredicate {
        get { lock.withLock { can } ?? NSPredicate(value: true) }
        set { lock.withLock { can = newValue } }
    }

    /// Whether the scene is the best one for some content, as the window that shows it: none unless set.
    public var prefersToActivateForTargetContentIdentifierPredicate: NSPredicate {
        get { lock.withLock { prefers } ?? NSPredicate(value: false) }
        set { lock.withLock { prefers = newValue } }
    }

    /// Whether any of them was set.
    var areSet: Bool { lock.withLock { can != nil || prefers != nil } }

    /// Whether the scene can take an activity about this.
    func canActivate(for identifier: String) -> Bool {
        canActivateForTargetContentIdentifierPredicate.evaluate(with: identifier)
    }

    /// Whether the scene is the best one for an activity about this, which it then can take, too.
    func prefersToActivate(for identifier: String) -> Bool {
        prefersToActivateForTargetContentIdentifierPredicate.evaluate(with: identifier)
    }
}
