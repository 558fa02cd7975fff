import HandoffControl
import HandoffModel

/// The devices that see this device's offers.
enum Audience {
    /// Returns the names of the online devices, except those with an advertising restriction.
    static func names(_ status: ControlStatus) -> [String] {
        let restricted = Set(status.holds.filter { $0.direction == .advertise }.compactMap(\.device))
        return status.peers.compactMap { peer in
            peer.device.flatMap { restricted.contains($0) ? nil : DeviceText.label(peer.name ?? "", $0) }
        }
    }
}
