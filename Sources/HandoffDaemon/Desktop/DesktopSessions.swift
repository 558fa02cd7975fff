import HandoffControl
import HandoffHandlers

/// The user's sessions, as reported by the desktop service. Lives on the daemon's loop. Stops when
/// released.
final class DesktopSessions {
    private var following: DesktopLink.Following?

    /// Starts following.
    ///
    /// - Parameter onChange: Called with the sessions initially and after each change. While the
    ///   desktop service cannot be reached, nothing is reported: known sessions stay known, unknown
    ///   ones unknown.
    init(_ desktop: DesktopLink, onChange: @escaping (LoginReport) -> Void) {
        following = desktop.follow(.followSessions) { update in
            switch update {
            case .reply(let fields):
                do throws(VarlinkError) {
                    onChange(try LoginReport(json: fields))
                } catch {
                    // Invalid replies are ignored; the known state is kept.
                }
            case .lost: break
            case .missing: onChange(.absent)
            }
        }
    }
}
