/// What a view has to do with Handoff, as a value: what SwiftUI's modifiers of these names are, for view layers in which views are values that
/// are made anew all the time. A `HandoffModifierHost` does what the values of one view say.
///
/// A view layer that adopts `HandoffModifiable` has SwiftUI's way of writing them.
public struct HandoffModifier: Sendable {
    enum Kind: Sendable {
        /// The view shows an activity.
        case activity(isActive: Bool, update: @MainActor (NSUserActivity) -> Void)
        /// The view takes activities.
        case continuation(perform: @MainActor (NSUserActivity) -> Void)
    }

    /// Of which activities it speaks.
    public let activityType: String
    let kind: Kind

    /// The user does something in the view.
    /// - Parameters:
    ///   - activityType: what kind of activity.
    ///   - isActive: whether the user is at it now: then it is current.
    ///   - update: writes the state of the view into the activity; called as the main actor before it becomes current, and before each save.
    public static func userActivity(
        _ activityType: String, isActive: Bool = true, _ update: @escaping @MainActor (NSUserActivity) -> Void
    ) -> HandoffModifier {
        HandoffModifier(activityType: activityType, kind: .activity(isActive: isActive, update: update))
    }

    /// The user does something with an element, such as what is selected.
    /// - Parameters:
    ///   - activityType: what kind of activity.
    ///   - element: with what; nil: the user is not at it.
    ///   - update: writes the element into the activity; called as the other one's.
    @MainActor
    public static func userActivity<Element>(
        _ activityType: String, element: Element?,
        _ update: @escaping @MainActor (Element, NSUserActivity) -> Void
    ) -> HandoffModifier {
        userActivity(activityType, isActive: element != nil) { activity in
            if let element { update(element, activity) }
        }
    }

    /// The view takes activities that are continued here.
    /// - Parameters:
    ///   - activityType: what kind of activities. Several views may take one type, and each gets all of them.
    ///   - action: called as the main actor with each activity, which counts as taken over.
    public static func onContinueUserActivity(
        _ activityType: String, perform action: @escaping @MainActor (NSUserActivity) -> Void
    ) -> HandoffModifier {
        HandoffModifier(activityType: activityType, kind: .continuation(perform: action))
    }
}

/// A view of some layer, which can be given modifiers of Handoff.
@MainActor
public protocol HandoffModifiable {
    /// The view with a modifier.
    associatedtype Modified

    /// The view with one more modifier, for the layer to give to the `HandoffModifierHost` of the view.
    func modifier(_ modifier: HandoffModifier) -> Modified
}

extension HandoffModifiable {
    /// The user does something in the view; see `HandoffModifier`.
    public func userActivity(
        _ activityType: String, isActive: Bool = true, _ update: @escaping @MainActor (NSUserActivity) -> Void
    ) -> Modified {
        modifier(.userActivity(activityType, isActive: isActive, update))
    }

    /// The user does something with an element; see `HandoffModifier`.
    public func userActivity<Element>(
        _ activityType: String, element: Element?,
        _ update: @escaping @MainActor (Element, NSUserActivity) -> Void
    ) -> Modified {
        modifier(.userActivity(activityType, element: element, update))
    }

    /// The view takes activities that are continued here; see `HandoffModifier`.
    public func onContinueUserActivity(
        _ activityType: String, perform action: @escaping @MainActor (NSUserActivity) -> Void
    ) -> Modified {
        modifier(.onContinueUserActivity(activityType, perform: action))
    }
}
