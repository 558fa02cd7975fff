import HandoffControl
package import HandoffDesktop

/// When the machine goes to sleep, as the desktop tells it. Lives on the daemon's loop; ends when it is let go.
package final class DesktopSleep {
    private let desktop: DesktopLink
    private let onChange: (MachineSleep) -> Void
    private var following: DesktopLink.Following?

    /// Begins to follow.
    ///
    /// - Parameter onChange: told when the machine is awake, and when it is about to sleep, which then waits until ``allow()`` is
    ///   called, some seconds at most. While whoever knows is not reached, the machine counts as awake.
    package init(_ desktop: DesktopLink, onChange: @escaping (MachineSleep) -> Void) {
        self.desktop = desktop
        self.onChange = onChange
        follow()
    }

    /// The machine may sleep now.
    package func allow() {
        // The end of the connection says so; over the next one comes the word that the machine is awake.
        follow()
    }

    private func follow() {
        following = desktop.follow(.followSleep) { [weak self] news in
            switch news {
            case .reply(let fields):
                do throws(VarlinkError) {
                    self?.onChange(try MachineSleep(json: fields))
                } catch {
                    // Who answers nonsense is not believed: what was known stays.
                }
            case .lost, .missing: self?.onChange(.awake)
            }
        }
    }
}
