import Foundation
import HandoffModel

/// Scenes, and which of them an activity goes to.
extension HandoffApplication {
    /// The scene that the user is engaged in, when the app has scenes: its delegate is told of continuations, and the application's
    /// is not. The app sets it when a window comes to the front. Setting it connects to the daemon, and makes the activity of the scene
    /// current.
    public var activeScene: HandoffScene? {
        get { lock.withLock { storedScene } }
        set {
            // The former one ends after the lock: its activity comes back here.
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

    /// The scenes among which the `targetContentIdentifier` of an activity chooses; see `connect(_:)`.
    public var connectedScenes: Set<HandoffScene> { lock.withLock { Set(scenes) } }

    /// Adds a scene to those among which the `targetContentIdentifier` of an activity chooses, by their `activationConditions`: the
    /// activity goes to one that prefers it, else to one that can take it, and of several to the one that was active last. Where no
    /// scene can, it goes to the application's delegate, which may open a window for it. An activity without an identifier goes
    /// to the `activeScene`.
    ///
    /// The scene is kept until `disconnect(_:)`.
    public func connect(_ scene: HandoffScene) {
        lock.withLock { if !scenes.contains(scene) { scenes.append(scene) } }
        start()
    }

    /// A scene is over: nothing goes to it any more.
    public func disconnect(_ scene: HandoffScene) {
        // Ends after the lock: its activity comes back here.
        withExtendedLifetime(scene) {
            lock.withLock { scenes.removeAll { $0 === scene } }
            if activeScene === scene { activeScene = nil }
        }
    }

    /// The active scene, and behind it the others.
    private var candidates: [HandoffScene] {
        lock.withLock { (storedScene.map { [$0] } ?? []) + scenes.filter { $0 !== storedScene } }
    }

    /// Whose delegate is told of an activity that has arrived. On the callback queue, since the conditions are the app's.
    func audience(for activity: NSUserActivity) -> Audience? {
        guard let identifier = activity.targetContentIdentifier else { return nil }
        let scenes = candidates
        guard !scenes.isEmpty else { return nil }
        let chosen =
            scenes.first { $0.activationConditions.prefersToActivate(for: identifier) }
            ?? scenes.first { $0.activationConditions.canActivate(for: identifier) }
        return chosen.map(Audience.scene) ?? .application
    }

    /// Whether it depends on the content of an activity which scene is told of it.
    func choosesScene(for type: String) -> Bool {
        let isForScene = lock.withLock { handlers[type]?.continue == nil && listeners[type] == nil }
        return isForScene && candidates.contains { $0.activationConditions.areSet }
    }

    /// What has to be called for a delegate to be told that an activity comes, if nobody was told yet.
    func announcement(of id: ContinuationID, _ type: String, _ audience: Audience?) -> [CallbackStep] {
        let isDue = lock.withLock { unannounced.remove(id) != nil }
        guard isDue else { return [] }
        return [tell(.willContinue(type), audience)]
    }
}
