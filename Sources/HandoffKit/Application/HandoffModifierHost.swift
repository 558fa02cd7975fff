/// Applies the Handoff modifiers of a view across updates of the view. A view layer keeps one for
/// each view on the screen that has modifiers. When it is released, the activities of the view end,
/// and the view receives no more.
@MainActor
public final class HandoffModifierHost {
    private let application: HandoffApplication
    private var shown: [String: ShownActivity] = [:]
    private var continued: [String: ContinuedActivities] = [:]

    /// Creates a host for a view without modifiers.
    public init(application: HandoffApplication = .shared) {
        self.application = application
    }

    /// Applies the modifiers of an updated view. If several apply to one activity type, the last
    /// one is used. A current activity stays current while its modifier is active, and its new
    /// state is saved later.
    public func update(_ modifiers: [HandoffModifier]) {
        var formerlyShown = shown
        var formerlyContinued = continued
        for modifier in modifiers {
            let type = modifier.activityType
            switch modifier.kind {
            case .activity(let isActive, let update):
                formerlyShown[type] = nil
                let activity = shown[type] ?? ShownActivity(type, application)
                shown[type] = activity
                activity.update(isActive: isActive, update)
            case .continuation(let action):
                formerlyContinued[type] = nil
                let activities = continued[type] ?? ContinuedActivities(type, application)
                continued[type] = activities
                activities.action = action
            }
        }
        for type in formerlyShown.keys { shown[type] = nil }
        for type in formerlyContinued.keys { continued[type] = nil }
    }
}

/// The activity that a view presents.
@MainActor
private final class ShownActivity: NSUserActivityDelegate {
    private let activity: NSUserActivity
    private var isActive = false
    private var write: (NSUserActivity) -> Void = { _ in }

    init(_ type: String, _ application: HandoffApplication) {
        activity = NSUserActivity(activityType: type, application: application)
        activity.delegate = self
    }

    deinit {
        activity.invalidate()
    }

    func update(isActive: Bool, _ write: @escaping @MainActor (NSUserActivity) -> Void) {
        self.write = write
        defer { self.isActive = isActive }
        switch (self.isActive, isActive) {
        case (false, true):
            write(activity)
            activity.becomeCurrent()
        case (true, true): activity.needsSave = true
        case (true, false): activity.resignCurrent()
        case (false, false): break
        }
    }

    func userActivityWillSave(_ userActivity: NSUserActivity) { write(userActivity) }
}

/// The activities that a view receives.
@MainActor
private final class ContinuedActivities {
    var action: (NSUserActivity) -> Void = { _ in }
    private var task: Task<Void, Never>?

    init(_ type: String, _ application: HandoffApplication) {
        let activities = application.continuations(of: type)
        task = Task { [weak self] in
            for await activity in activities { self?.action(activity) }
        }
    }

    deinit {
        task?.cancel()
    }
}
