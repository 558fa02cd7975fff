import HandoffControl
package import HandoffDesktop

/// Whether the machine saves power, as the desktop tells it. Lives on the daemon's loop; ends when it is let go.
package final class DesktopPower {
    private let following: DesktopLink.Following

    /// Begins to follow.
    ///
    /// - Parameter onChange: told what is so. While whoever knows is not reached, no power is saved.
    package init(_ desktop: DesktopLink, onChange: @escaping (MachinePower) -> Void) {
        following = desktop.follow(.followPower) { news in
            switch news {
            case .reply(let fields):
                // Who answers nonsense is not believed: what was known stays.
                if let power = try? MachinePower(json: fields) { onChange(power) }
            case .lost, .missing: onChange(MachinePower(isSaving: false))
            }
        }
    }
}
