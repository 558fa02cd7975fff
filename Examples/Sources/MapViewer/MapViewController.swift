import ExampleSupport
import HandoffKit

/// The map and the popover of a store: what the user sees and does. As a responder it owns the activity that is
/// current, of which it has two: one for the map, one for the store that is open.
final class MapViewController: UIResponder, NSUserActivityDelegate {
    /// What an app with a window would leave to its views.
    struct Surroundings {
        /// Tells the user that something happened, and shows it.
        let say: (String) -> Void
        /// Does something a moment later.
        let later: (@escaping () -> Void) -> Void
    }

    /// What the map shows.
    private(set) var region = Region.world
    /// The stores that the search has found in the region; each of them has a pin.
    private(set) var annotations: [Store] = []
    /// The store whose details are open.
    private(set) var popover: Store?

    private let surroundings: Surroundings
    private let mapViewingActivity = NSUserActivity(activityType: NSUserActivity.mapViewingActivityType)
    private let storeEditingActivity = NSUserActivity(activityType: NSUserActivity.storeEditingActivityType)
    private var searches = 0
    private var awaited: (store: Store, then: () -> Void)?

    /// A map of the whole world. Nothing is current before `begin()`.
    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
        super.init()
        mapViewingActivity.title = "Looking at a map"
        mapViewingActivity.requiredUserInfoKeys = NSUserActivity.requiredRegionKeys
        storeEditingActivity.requiredUserInfoKeys = NSUserActivity.requiredStoreKeys
        storeEditingActivity.delegate = self
    }

    // MARK: What the user does

    /// The view has appeared.
    func begin() { regionChanged() }

    /// The user moves the map.
    func show(_ region: Region) {
        guard region != self.region else { return }
        self.region = region
        popover = nil
        awaited = nil
        regionChanged()
    }

    /// The user picks a store, which may be out of sight.
    func open(_ store: Store) {
        whenAnnotated(store) { [self] in
            popover = store
            storeEditingActivity.title = "Looking at \(store.name)"
            // Another one than the map's: it replaces that at the other devices.
            userActivity = storeEditingActivity
            storeEditingActivity.needsSave = true
            surroundings.say("popover open \(store.number)")
        }
    }

    /// The user closes the details.
    func closePopover(_ reason: String) {
        guard let store = popover else { return }
        popover = nil
        userActivity = mapViewingActivity
        mapViewingActivity.needsSave = true
        surroundings.say("popover closed \(store.number): \(reason)")
    }

    private func regionChanged() {
        userActivity = mapViewingActivity
        mapViewingActivity.needsSave = true
        surroundings.say("region \(region.text)")
        search()
    }

    // MARK: Pins

    /// Does something once a store has its pin. Whoever comes later, or moves the map, takes the place of one that
    /// waits.
    func whenAnnotated(_ store: Store, _ then: @escaping () -> Void) {
        if annotations.contains(store), region.contains(latitude: store.latitude, longitude: store.longitude) {
            return then()
        }
        show(store.surroundings)
        surroundings.say("waiting for the pin of \(store.number)")
        awaited = (store, then)
        // The region may have been the same, and its search be over.
        search()
    }

    /// Looks for the stores of the region, as it would in a database far away: the answer comes later.
    private func search() {
        searches += 1
        let number = searches
        surroundings.later { [self] in
            guard number == searches else { return }
            annotations = Store.all.filter { region.contains(latitude: $0.latitude, longitude: $0.longitude) }
            surroundings.say("pins \(annotations.map { "\($0.number)" }.joined(separator: " "))")
            guard let awaited, annotations.contains(awaited.store) else { return }
            self.awaited = nil
            awaited.then()
        }
    }

    // MARK: Handoff

    /// Before the activity is handed off, with an empty `userInfo`.
    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        switch activity.activityType {
        case NSUserActivity.mapViewingActivityType: activity.updateViewingRegion(region)
        case NSUserActivity.storeEditingActivityType: popover.map(activity.updateStore)
        default: break
        }
    }

    /// On the device that continues, once the restoration handler was called.
    override func restoreUserActivityState(_ activity: NSUserActivity) {
        super.restoreUserActivityState(activity)
        switch activity.activityType {
        case NSUserActivity.mapViewingActivityType: activity.viewingRegion().map(show)
        case NSUserActivity.storeEditingActivityType: activity.store().map(open)
        default: break
        }
    }

    /// Another device has the store open now: two should not change it at once.
    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        guard userActivity.activityType == NSUserActivity.storeEditingActivityType else { return }
        closePopover("continued on another device")
    }
}
