package import HandoffAccount
package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// What the network needs to know of the account: an immutable snapshot, made anew at each change, that any thread may
/// read.
package final class AccountSnapshot: Sendable {
    /// This device.
    package let own: DeviceID
    /// The account; nil without one, and after this device's removal.
    package let accountID: AccountID?
    /// Keys of the epoch whose account key this device has; nil without an account, and after its removal.
    package let held: EpochKeys?
    /// The record of the epoch whose key is held; two devices may each have made an epoch of one number.
    package let heldRecord: Fingerprint?
    /// Whether that epoch is the one in force; otherwise only statements and keys are exchanged.
    package let isCurrent: Bool
    /// What names the epoch in force in hello; nil without its key.
    package let epochName: [UInt8]?
    /// Seed of the ticket by which this device is joining; nil once it has joined.
    package let ticketSeed: SecretBytes?
    /// First 8 bytes of the roster's digest; zeros without an account.
    package let rosterDigest: [UInt8]
    /// The names of the members: their labels, and the choice of one by a text.
    package let names: DeviceNames
    private let view: RosterView?

    /// What `state` says to the device `own`; nothing without an account.
    package init(own: DeviceID, state: AccountState?) {
        self.own = own
        let isMember = state?.view.isLive(own) ?? false
        accountID = isMember ? state?.accountID : nil
        held = isMember ? state?.held?.keys : nil
        heldRecord = isMember ? state?.held?.record : nil
        isCurrent = isMember && state?.isCurrent ?? false
        epochName = isCurrent ? state?.held?.name : nil
        ticketSeed = isMember ? state?.ticketSeed : nil
        rosterDigest = state?.roster.shortDigest ?? [UInt8](repeating: 0, count: Announcement.digestCount)
        let view = isMember ? state?.view : nil
        self.view = view
        let live = view.map { view in view.live.map { ($0, view.names[$0] ?? $0.short) } } ?? []
        names = DeviceNames(Dictionary(uniqueKeysWithValues: live))
    }

    /// Keys of the epoch in force; nil while nothing may be offered or served.
    package var current: EpochKeys? { isCurrent ? held : nil }

    /// The members.
    package var live: Set<DeviceID> { view?.live ?? [] }

    /// The other members.
    package var others: Set<DeviceID> { live.subtracting([own]) }

    /// Tickets by which a device may still come in.
    package var openTickets: [OpenTicket] { view?.openTickets.filter(\.users.isEmpty) ?? [] }

    /// Whether this device is in an account whose key no member has given it yet.
    package var isJoining: Bool { accountID != nil && held == nil }

    /// The key of a member other than this device.
    package func peerKey(_ id: DeviceID) -> PublicKey? {
        guard let view, id != own, view.isLive(id) else { return nil }
        return view.publicKey(of: id)
    }

    /// The key of any member, this device included: adverts of its own show a cloned state folder.
    package func memberKey(_ id: DeviceID) -> PublicKey? {
        guard let view, view.isLive(id) else { return nil }
        return view.publicKey(of: id)
    }

    /// Whether a certificate with this key is that of another member.
    package func admits(_ key: PublicKey) -> Bool {
        peerKey(DeviceID(key))?.raw == key.raw
    }

    /// Whether a certificate with this key may be introduced: nobody here knows it.
    package func mayIntroduce(_ key: PublicKey) -> Bool {
        mayIntroduce(DeviceID(key))
    }

    /// Whether a device may be introduced.
    package func mayIntroduce(_ id: DeviceID) -> Bool {
        guard let view else { return false }
        return id != own && !view.isRemoved(id)
    }

    /// The name that the members gave a device; the beginning of its id when there is none.
    package func name(of id: DeviceID) -> String {
        view?.names[id] ?? id.short
    }

    /// The label of a device: its name, with the beginning of its id if another member has a similar name.
    package func label(of id: DeviceID) -> String {
        live.contains(id) ? names.label(of: id) : name(of: id)
    }

    /// Whether a label was made in the epoch that is held.
    package func isHeld(_ label: Label) -> Bool {
        held.map { label.isMember(labelKey: $0.label) } ?? false
    }

    /// Whether an mDNS instance of this name belongs to a member in the epoch that is held.
    package func recognises(instance: String) -> Bool {
        Label(instanceName: instance).map(isHeld) ?? false
    }
}
