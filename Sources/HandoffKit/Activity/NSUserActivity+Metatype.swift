/// Something that is made through its metatype, as in `self.init(activityType:)` of a static method of ``NSUserActivity``.
///
/// On Apple's systems any initialiser can be called that way. In Swift it would have to be `required`, so each subclass with an initialiser of
/// its own would have to repeat it.
public protocol HandoffMetatypeInitializable {}

extension HandoffMetatypeInitializable {
    /// Makes an activity of the app's shared `HandoffApplication`. A subclass of ``NSUserActivity`` cannot be made in this way, and ends the
    /// process: use its name, as in `OwnActivity(activityType:)`.
    public init(activityType: String) {
        guard let activity = NSUserActivity(activityType: activityType) as? Self else {
            misuse("\(Self.self) cannot be made through its metatype: use its name")
        }
        self = activity
    }
}

extension NSUserActivity: HandoffMetatypeInitializable {}
