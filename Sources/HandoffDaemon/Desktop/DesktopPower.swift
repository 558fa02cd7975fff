import HandoffControl
import HandoffHandlers

/// The power-saving state of the machine, as reported by the desktop service. Lives on the daemon's
/// loop. Stops when released.
final class DesktopPower {
    private let following: DesktopLink.Following

    /// Starts following.
    ///
    /// - Parameter onChange: Called with each state. While the desktop service cannot be reached,
    ///   the machine counts as not saving power.
    init(_ desktop: DesktopLink, onChange: @escaping (MachinePower) -> Void) {
        following = desktop.follow(.followPower) { update in
            switch update {
            case .reply(let fields):
                // Invalid replies are ignored; the known state is kept.
                if let power = try? MachinePower(json: fields) { onChange(power) }
            case .lost, .missing: onChange(MachinePower(isSaving: false))
            }
        }
    }
}
