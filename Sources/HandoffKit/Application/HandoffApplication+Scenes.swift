import Foundation
import HandoffModel

/// Scenes, and the choice of a scene for an activity.
extension HandoffApplication {
    /// The scene that the user is engaged in, if the app has scenes. Its delegate receives
    /// continuations in place of the application's. The app sets it when a window moves to the
    /// front. Setting it connects to the daemon, and makes the activity of the scene current.
    public var activeScene: HandoffScene? {
        get { lock.withLock { storedScene } }
        set {
            // The former scene is released after the lock, because its activity calls back into
            // this object.
            var former = newValue
            lock.withLock {
                swap(&storedScene, &former)
                guard let newValue, let place = scenes.firstIndex(of: newValue) else { return }
                scenes.insert(scenes.remove(at: place), at: 0)
            }
            guard let newValue else { return }
            start()
            newValue.userActivity?.becomeCurrent()
        }
    }

    /// The scenes from which the `targetContentIdentifier` of an activity selects; see
    /// `connect(_:)`.
    public var connectedScenes: Set<HandoffScene> { lock.withLock { Set(scenes) } }

    /// Adds a scene to those from which the `targetContentIdentifier` of an activity selects.
    /// Selection uses their `activationConditions`: the activity goes to a scene that prefers it,
    /// otherwise to one that can activate for it. Among several, the most recently active scene is
    /// used. If there is none, the activity goes to the application's delegate, which may open a
    /// window for it. An activity without an identifier goes to the `activeScene`.
    ///
    /// The scene is retained until `disconnect(_:)`.
    public func connect(_ scene: HandoffScene) {
        lock.withLock { if !scenes.contains(scene) { scenes.append(scene) } }
        start()
    }

    /// Removes a scene, which then receives no further activities.
    public func disconnect(_ scene: HandoffScene) {
        // Released after the lock, because its activity calls back into this object.
        withExtendedLifetime(scene) {
            lock.withLock { scenes.removeAll { $0 === scene } }
            if activeScene === scene { activeScene = nil }
        }
    }

    /// The active scene, followed by the others.
    private var candidates: [HandoffScene] {
        lock.withLock { (storedScene.map { [$0] } ?? []) + scenes.filter { $0 !== storedScene } }
    }

    /// Returns the recipient of an activity that has arrived. On the callback queue, because the
    /// conditions belong to the app.
    func recipient(for activity: NSUserActivity) -> Recipient? {
        guard let identifier = activity.targetContentIdentifier else { return nil }
        let scenes = candidates
        guard !scenes.isEmpty else { return nil }
        let chosen =
            scenes.first { $0.activationConditions.prefersToActivate(for: identifier) }
            ?? scenes.first { $0.activationConditions.canActivate(for: identifier) }
        return chosen.map(Recipient.scene) ?? .application
    }

    /// Returns whether the choice of a scene depends on the content of an activity.
    func choosesScene(for type: String) -> Bool {
        let isForScene = lock.withLock { handlers[type]?.continue == nil && listeners[type] == nil }
        return isForScene && candidates.contains { $0.activationConditions.areSet }
    }

    /// Returns the call that announces an activity to a delegate, unless it has been announced.
    func announcement(of id: ContinuationID, _ type: String, _ recipient: Recipient?) -> [CallbackStep] {
        let isDue = lock.withLock { unannounced.remove(id) != nil }
        guard isDue else { return [] }
        return [notify(.willContinue(type), recipient)]
    }
}
