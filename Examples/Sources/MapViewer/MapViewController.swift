import ExampleSupport
import HandoffKit

/// The map and the popover of a store, with the user's actions. As a responder it owns the current
/// activity. It has two activities: one for the map, one for the open store.
final class MapViewController: UIResponder, NSUserActivityDelegate {
    /// Services that an app with a window would provide through its views.
    struct Surroundings {
        /// Reports an event to the user.
        let report: (String) -> Void
        /// Runs an action a moment later.
        let later: (@escaping () -> Void) -> Void
    }

    private(set) var region = Region.world
    /// The stores that the search has found in the region. Each of them has a pin.
    private(set) var annotations: [Store] = []
    /// The store whose details are open.
    private(set) var popover: Store?

    private let surroundings: Surroundings
    private let mapViewingActivity = NSUserActivity(activityType: NSUserActivity.mapViewingActivityType)
    private let storeEditingActivity = NSUserActivity(activityType: NSUserActivity.storeEditingActivityType)
    private var searches = 0
    private var awaited: (store: Store, then: () -> Void)?

    /// Creates a map of the whole world. No activity is current before `begin()`.
    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
        super.init()
        mapViewingActivity.title = "Looking at a map"
        mapViewingActivity.requiredUserInfoKeys = NSUserActivity.requiredRegionKeys
        storeEditingActivity.requiredUserInfoKeys = NSUserActivity.requiredStoreKeys
        storeEditingActivity.delegate = self
    }

    // MARK: User actions

    /// Publishes the activity after the view has appeared.
    func begin() { regionChanged() }

    func show(_ region: Region) {
        guard region != self.region else { return }
        self.region = region
        popover = nil
        awaited = nil
        regionChanged()
    }

    /// Opens a store, which may be out of sight.
    func open(_ store: Store) {
        whenAnnotated(store) { [self] in
            popover = store
            storeEditingActivity.title = "Looking at \(store.name)"
            // A different activity from the map's: it replaces that one on the other devices.
            userActivity = storeEditingActivity
            storeEditingActivity.needsSave = true
            surroundings.report("popover open \(store.number)")
        }
    }

    func closePopover(_ reason: String) {
        guard let store = popover else { return }
        popover = nil
        userActivity = mapViewingActivity
        mapViewingActivity.needsSave = true
        surroundings.report("popover closed \(store.number): \(reason)")
    }

    private func regionChanged() {
        userActivity = mapViewingActivity
        mapViewingActivity.needsSave = true
        surroundings.report("region \(region.text)")
        search()
    }

    // MARK: Pins

    /// Runs an action when a store has its pin. A later call, or moving the map, replaces a waiting
    /// action.
    func whenAnnotated(_ store: Store, _ then: @escaping () -> Void) {
        if annotations.contains(store), region.contains(latitude: store.latitude, longitude: store.longitude) {
            return then()
        }
        show(store.surroundings)
        surroundings.report("waiting for the pin of \(store.number)")
        awaited = (store, then)
        // The region may be unchanged, and its search completed.
        search()
    }

    /// Searches for the stores of the region. As with a remote database, the result arrives later.
    private func search() {
        searches += 1
        let number = searches
        surroundings.later { [self] in
            guard number == searches else { return }
            annotations = Store.all.filter { region.contains(latitude: $0.latitude, longitude: $0.longitude) }
            surroundings.report("pins \(annotations.map { "\($0.number)" }.joined(separator: " "))")
            guard let awaited, annotations.contains(awaited.store) else { return }
            self.awaited = nil
            awaited.then()
        }
    }

    // MARK: Handoff

    /// Called before the activity is handed off, with an empty `userInfo`.
    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        switch activity.activityType {
        case NSUserActivity.mapViewingActivityType: activity.updateViewingRegion(region)
        case NSUserActivity.storeEditingActivityType: popover.map(activity.updateStore)
        default: break
        }
    }

    /// Called on the continuing device, after the restoration handler was called.
    override func restoreUserActivityState(_ activity: NSUserActivity) {
        super.restoreUserActivityState(activity)
        switch activity.activityType {
        case NSUserActivity.mapViewingActivityType: activity.viewingRegion().map(show)
        case NSUserActivity.storeEditingActivityType: activity.store().map(open)
        default: break
        }
    }

    /// Another device now has the store open. The same store should not be edited on both.
    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        guard userActivity.activityType == NSUserActivity.storeEditingActivityType else { return }
        closePopover("continued on another device")
    }
}
