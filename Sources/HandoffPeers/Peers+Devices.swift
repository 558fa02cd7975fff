package import HandoffModel
package import HandoffProtocol
import HandoffState
package import HandoffStreams
package import HandoffTransport

/// The state of the other devices.
extension Peers {
    /// The online devices with their offers.
    package var table: PeerTable { network.table }

    /// The record of a member.
    package subscript(_ device: DeviceID) -> PeerRecord { records[device] }

    /// The members that have proved that they hold the account key in force.
    package var keyHolders: Set<DeviceID> { records.holders }

    /// The position of the last announcement of this device.
    package var position: Position { network.announcer.position }

    /// The announced kind of this machine.
    package var kind: DeviceKind { network.announcer.kind }

    /// True if another machine runs with the identity of this device. Nothing is announced then.
    package var hasDuplicateIdentity: Bool { network.hasDuplicateIdentity }

    /// The members that use an earlier version of the protocol.
    package var outdated: Set<DeviceID> { records.devices(where: \.isOutdated) }

    /// The configured addresses, each with the device that answered there.
    package var configuredAddresses: [(address: StaticAddress, device: DeviceID?)] { staticPeers.addresses }

    /// The reason why this device has not joined the account of its file yet, for people.
    package var joinObstacle: String { joining.missing }

    /// Returns true if an established link to the device exists.
    package func isConnected(_ device: DeviceID) -> Bool { pool.isConnected(device) }

    /// Returns the device as the origin or the receiver of an activity.
    package func origin(of device: DeviceID) -> Origin { network.origin(of: device) }

    /// The time at which a device announced that it goes to sleep, in seconds since 1970; nil if it
    /// is not known to be asleep.
    package func asleepSince(_ device: DeviceID) -> UInt64? { client.asleepSince(device) }

    /// Returns the failure of a request to a device that is asleep; nil if it is not known to be
    /// asleep.
    package func asleep(_ device: DeviceID) -> HandoffFailure? { client.asleep(device) }

    /// Returns the reason to refuse requests of a device; nil for a member while this device holds
    /// the account key in force.
    package func refusal(of device: DeviceID) -> HandoffFailure? {
        let snapshot = accountStore.snapshot
        let name = snapshot.label(of: snapshot.own)
        guard snapshot.isCurrent else { return .accountKeyMissing(device: name) }
        guard snapshot.peerKey(device) != nil else {
            return .rejected(device: name, cause: "the requesting device is not a member of its account")
        }
        return nil
    }
}

/// Requests to the other devices.
extension Peers {
    /// Requests the payload of an activity from the device that offers it.
    ///
    /// - Parameter versions: the accepted versions of the app on that device; nil accepts all.
    package func fetch(
        _ activity: ActivityID, from device: DeviceID, versions: VersionRange?, timeout: Duration,
        completion: @escaping (Result<Payload, HandoffFailure>) -> Void
    ) -> FetchHandle {
        client.fetch(activity, from: device, versions: versions, timeout: timeout, completion: completion)
    }

    /// Requests a ticket to a stream of an activity that was continued here: the stream of the
    /// apps, or that of a resource.
    package func requestStreamTicket(
        for activity: ActivityID, _ resource: StreamResource?, from device: DeviceID,
        completion: @escaping (Result<[UInt8], HandoffFailure>) -> Void
    ) -> FetchHandle {
        client.requestStreamTicket(of: activity, resource, from: device, completion: completion)
    }

    /// Connects to a member for a stream.
    ///
    /// - Returns: nil if no route to it is known.
    package func openStream(
        to device: DeviceID, completion: @escaping (Result<StreamChannel, HandoffFailure>) -> Void
    ) -> Dial? {
        client.dialStream(to: device, completion: completion)
    }

    /// Notifies a device of what happened to one of its activities on this device.
    ///
    /// - Parameter method: `PeerMethod.wasContinued` or `PeerMethod.wasDeclined`.
    package func notifyOrigin(_ device: DeviceID, _ method: String, _ activity: ActivityID) {
        client.notifyOrigin(device, method, activity)
    }
}
