import HandoffControl
package import HandoffDesktop

/// The user's sessions, as the desktop tells them. Lives on the daemon's loop; ends when it is let go.
package final class DesktopSessions {
    private var following: DesktopLink.Following?

    /// Begins to follow.
    ///
    /// - Parameter onChange: gets what is known of them at first and after each change. While whoever knows is not reached
    ///   nothing is told: what was known stays, and what is not known yet stays unknown.
    package init(_ desktop: DesktopLink, onChange: @escaping (LoginReport) -> Void) {
        following = desktop.follow(.followSessions) { news in
            switch news {
            case .reply(let fields):
                do throws(VarlinkError) {
                    onChange(try LoginReport(json: fields))
                } catch {
                    // Who answers nonsense is not believed: what was known stays.
                }
            case .lost: break
            case .missing: onChange(.absent)
            }
        }
    }
}
