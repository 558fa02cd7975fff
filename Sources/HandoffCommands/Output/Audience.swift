import HandoffControl
import HandoffModel

/// The devices that see what this one offers to all.
enum Audience {
    /// The devices that are there, but for those from which something is held back.
    static func names(_ status: ControlStatus) -> [String] {
        let held = Set(status.holds.filter { $0.direction == .advertise }.compactMap(\.device))
        return status.peers.compactMap { peer in
            peer.device.flatMap { held.contains($0) ? nil : DeviceText.label(peer.name ?? "", $0) }
        }
    }
}
