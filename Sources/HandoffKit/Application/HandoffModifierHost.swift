/// What a view layer keeps for each view on the screen that has modifiers of Handoff: does what they say, from one version of the view to the
/// next. Once it is let go of, the activities of the view have ended, and it takes none any more.
@MainActor
public final class HandoffModifierHost {
    private let application: HandoffApplication
    private var shown: [String: ShownActivity] = [:]
    private var taken: [String: TakenActivities] = [:]

    /// The host of a view without modifiers.
    public init(application: HandoffApplication = .shared) {
        self.application = application
    }

    /// The view was made anew, with these modifiers; of several about one type of activity the last counts. What was current stays so
    /// while its modifier is active, and is asked for its new state by and by.
    public func update(_ modifiers: [HandoffModifier]) {
        var formerlyShown = shown
        var formerlyTaken = taken
        for modifier in modifiers {
            let type = modifier.activityType
            switch modifier.kind {
            case .activity(let isActive, let update):
                formerlyShown[type] = nil
                let activity = shown[type] ?? ShownActivity(type, application)
                shown[type] = activity
                activity.update(isActive: isActive, update)
            case .continuation(let action):
                formerlyTaken[type] = nil
                let activities = taken[type] ?? TakenActivities(type, application)
                taken[type] = activities
                activities.action = action
            }
        }
        for type in formerlyShown.keys { shown[type] = nil }
        for type in formerlyTaken.keys { taken[type] = nil }
    }
}

/// The activity that a view shows.
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

/// The activities that a view takes.
@MainActor
private final class TakenActivities {
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
