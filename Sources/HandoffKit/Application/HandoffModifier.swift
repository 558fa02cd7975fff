/// A view's use of Handoff, as a value: the equivalent of SwiftUI's modifiers of the same names. It
/// is for view layers in which views are values that are recreated at every update. A
/// `HandoffModifierHost` applies the modifiers of one view.
///
/// A view layer that adopts `HandoffModifiable` offers SwiftUI's syntax.
public struct HandoffModifier: Sendable {
    enum Kind: Sendable {
        /// The view presents an activity.
        case activity(isActive: Bool, update: @MainActor (NSUserActivity) -> Void)
        /// The view receives activities.
        case continuation(perform: @MainActor (NSUserActivity) -> Void)
    }

    /// The type of the activities that it applies to.
    public let activityType: String
    let kind: Kind

    /// Declares that the user performs an activity in the view.
    /// - Parameters:
    ///   - activityType: the type of the activity.
    ///   - isActive: whether the user is engaged in it, which makes it current.
    ///   - update: writes the state of the view into the activity. Called on the main actor before
    ///     the activity becomes current, and before each save.
    public static func userActivity(
        _ activityType: String, isActive: Bool = true, _ update: @escaping @MainActor (NSUserActivity) -> Void
    ) -> HandoffModifier {
        HandoffModifier(activityType: activityType, kind: .activity(isActive: isActive, update: update))
    }

    /// Declares that the user performs an activity with an element, such as a selection.
    /// - Parameters:
    ///   - activityType: the type of the activity.
    ///   - element: the element; nil if the user is not engaged in the activity.
    ///   - update: writes the element into the activity. Called like `update` of
    ///     `userActivity(_:isActive:_:)`.
    @MainActor
    public static func userActivity<Element>(
        _ activityType: String, element: Element?,
        _ update: @escaping @MainActor (Element, NSUserActivity) -> Void
    ) -> HandoffModifier {
        userActivity(activityType, isActive: element != nil) { activity in
            if let element { update(element, activity) }
        }
    }

    /// Declares that the view receives activities that are continued here.
    /// - Parameters:
    ///   - activityType: the type of the activities. Several views may receive one type, and each
    ///     receives all of them.
    ///   - action: called on the main actor with each activity, which counts as handled.
    public static func onContinueUserActivity(
        _ activityType: String, perform action: @escaping @MainActor (NSUserActivity) -> Void
    ) -> HandoffModifier {
        HandoffModifier(activityType: activityType, kind: .continuation(perform: action))
    }
}

/// A view in a view layer that supports Handoff modifiers.
@MainActor
public protocol HandoffModifiable {
    /// The view with a modifier.
    associatedtype Modified

    /// Returns the view with an additional modifier. The layer passes it to the view's
    /// `HandoffModifierHost`.
    func modifier(_ modifier: HandoffModifier) -> Modified
}

extension HandoffModifiable {
    /// Declares that the user performs an activity in the view; see `HandoffModifier`.
    public func userActivity(
        _ activityType: String, isActive: Bool = true, _ update: @escaping @MainActor (NSUserActivity) -> Void
    ) -> Modified {
        modifier(.userActivity(activityType, isActive: isActive, update))
    }

    /// Declares that the user performs an activity with an element; see `HandoffModifier`.
    public func userActivity<Element>(
        _ activityType: String, element: Element?,
        _ update: @escaping @MainActor (Element, NSUserActivity) -> Void
    ) -> Modified {
        modifier(.userActivity(activityType, element: element, update))
    }

    /// Declares that the view receives activities that are continued here; see `HandoffModifier`.
    public func onContinueUserActivity(
        _ activityType: String, perform action: @escaping @MainActor (NSUserActivity) -> Void
    ) -> Modified {
        modifier(.onContinueUserActivity(activityType, perform: action))
    }
}
