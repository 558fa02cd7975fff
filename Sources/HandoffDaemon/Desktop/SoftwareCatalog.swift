import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel

/// The apps in the software catalogs of this device, by the activity types that other devices offer
/// and no app here continues. Lives on the daemon's loop.
///
/// The desktop service searches the catalogs once for each type, one after the other. A type that is
/// not known yet has no app until then, so no reply waits for a search.
final class SoftwareCatalog {
    /// The maximum number of types to search for until the installed apps change. Other devices choose
    /// the types.
    private static let maxTypes = 128

    private let desktop: DesktopLink?
    /// Weak because a result can arrive during shutdown.
    private weak var core: DaemonCore?
    private var known: [ActivityType: ComponentID?] = [:]
    private var waiting: [ActivityType] = []
    private var isBusy = false

    /// - Parameter desktop: Nil if there is no desktop, and therefore no catalog.
    init(desktop: DesktopLink?, core: DaemonCore) {
        self.desktop = desktop
        self.core = core
    }

    /// Returns the app of a type, and starts a search for an unknown type. The core is notified if
    /// that finds an app.
    func app(for type: ActivityType) -> ComponentID? {
        if let result = known[type] { return result }
        guard desktop != nil, known.count < Self.maxTypes else { return nil }
        known[type] = .some(nil)
        if !ComponentID.candidates(for: type).isEmpty {
            waiting.append(type)
            searchNext()
        }
        return nil
    }

    /// Forgets the types without an app, because catalogs change together with the installed apps.
    func forgetUnknown() {
        known = known.filter { $0.value != nil }
        waiting = []
    }

    private func searchNext() {
        guard !isBusy, let desktop, !waiting.isEmpty else { return }
        isBusy = true
        let type = waiting.removeFirst()
        let ids = ComponentID.candidates(for: type)
        desktop.call(.findComponent, ["ids": .array(ids.map(\.json))]) { [weak self] result in
            guard let self else { return }
            isBusy = false
            let id = (try? result.get())?["id"]?.string.flatMap { ComponentID($0) }
            if let id, ids.contains(id), known[type] != nil {
                known[type] = id
                core?.componentsChanged()
            }
            searchNext()
        }
    }
}
