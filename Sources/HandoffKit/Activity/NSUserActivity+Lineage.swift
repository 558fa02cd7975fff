import HandoffControl
import LoopIO

extension NSUserActivity {
    /// The effect of a continuation on another device on the activity here. Apple's class lacks it.
    public enum ContinuationEffect: Sendable {
        /// The activity ends. One with streams is only no longer current, until the app ends it.
        case close
        /// The activity is no longer current.
        case pause
        /// None.
        case stay
    }

    /// The effect of a continuation on another device on this activity; initially `stay`. Set it before
    /// the activity becomes current for the first time.
    public var continuationEffect: ContinuationEffect {
        get { state.withLock { $0.continuationEffect } }
        set { change { $0.continuationEffect = newValue } }
    }

    /// A Boolean value that indicates whether the app edits the content, so that others should not
    /// change it meanwhile; initially false. Other devices show it, and can still continue the
    /// activity.
    public var isExclusive: Bool {
        get { state.withLock { $0.isExclusive } }
        set { change { $0.isExclusive = newValue } }
    }

    /// Makes this activity the next state of one that the app has continued from another device, which
    /// can then bring it back.
    ///
    /// An activity that the app received and makes current itself needs no call.
    public func setContinued(from activity: NSUserActivity) {
        let lineage = activity.state.withLock { $0.lineage }
        change { $0.lineage = lineage }
    }
}

extension Afterwards {
    init(_ effect: NSUserActivity.ContinuationEffect) {
        self =
            switch effect {
            case .close: .close
            case .pause: .pause
            case .stay: .stay
            }
    }
}
