import HandoffControl
import HandoffHandlers

/// The sleep state of the machine, as reported by the desktop service. Lives on the daemon's loop.
/// Stops when released.
final class DesktopSleep {
    private let desktop: DesktopLink
    private let onChange: (MachineSleep) -> Void
    private var following: DesktopLink.Following?

    /// Starts following.
    ///
    /// - Parameter onChange: Called when the machine is awake, and when it is about to sleep. Sleep
    ///   is then delayed until ``allow()`` is called, by some seconds at most. While the desktop
    ///   service cannot be reached, the machine counts as awake.
    init(_ desktop: DesktopLink, onChange: @escaping (MachineSleep) -> Void) {
        self.desktop = desktop
        self.onChange = onChange
        follow()
    }

    /// Lets the machine sleep.
    func allow() {
        // Closing the connection allows sleep. The next connection reports when the machine is
        // awake.
        follow()
    }

    private func follow() {
        following = desktop.follow(.followSleep) { [weak self] update in
            switch update {
            case .reply(let fields):
                do throws(VarlinkError) {
                    self?.onChange(try MachineSleep(json: fields))
                } catch {
                    // Invalid replies are ignored; the known state is kept.
                }
            case .lost, .missing: self?.onChange(.awake)
            }
        }
    }
}
