/// A type that can be created through its metatype, as in `self.init(activityType:)` in a static
/// method of ``NSUserActivity``.
///
/// On Apple's systems any initializer can be called that way. In Swift it would have to be
/// `required`, and each subclass with its own initializer would have to repeat it.
public protocol HandoffMetatypeInitializable {}

extension HandoffMetatypeInitializable {
    /// Creates an activity of the app's shared `HandoffApplication`. A subclass of
    /// ``NSUserActivity`` cannot be created in this way: the process ends. Use its name instead, as
    /// in `OwnActivity(activityType:)`.
    public init(activityType: String) {
        guard let activity = NSUserActivity(activityType: activityType) as? Self else {
            misuse("\(Self.self) cannot be created through its metatype: use its name")
        }
        self = activity
    }
}

extension NSUserActivity: HandoffMetatypeInitializable {}
