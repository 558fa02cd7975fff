package import HandoffModel

/// Why an operation on the account is not possible.
package enum AccountError: Error, Equatable, Sendable, CustomStringConvertible {
    /// This device is no member any more.
    case notLive(DeviceID)
    /// The device to act on is no member.
    case noSuchDevice(DeviceID)
    /// No ticket of this id is open.
    case noSuchTicket
    /// This device came in by the ticket, and would close itself out with it.
    case admittedByTicket
    /// The key was removed, which is for ever; the device needs a new one.
    case removedForEver(DeviceID)
    /// The key of the current epoch is not known here yet, so nobody can be given it.
    case noCurrentKey
    /// The key that was offered does not fit the current epoch.
    case wrongKey
    /// The file's ticket was closed or used by another device, so it admits nobody.
    case ticketUsed
    /// The account has no room for the statement; `reason` names the limit.
    case full(reason: String)
    /// A member made an epoch with the greatest number that there is; remove that member.
    case epochsExhausted
    /// A member gave a name with the greatest counter that there is; remove that member.
    case namesExhausted
    /// A name is empty or longer than 64 bytes.
    case badName

    package var description: String {
        switch self {
        case .notLive(let device): "this device (\(device.short)) is not a member of the account"
        case .noSuchDevice(let device): "device \(device.short) is not a member of the account"
        case .noSuchTicket: "no such ticket is open"
        case .admittedByTicket: "this device came in by that file itself; another member has to close it"
        case .removedForEver(let device): "device \(device.short) was removed, and needs a new identity to come back"
        case .noCurrentKey: "the account key in force has not reached this device yet"
        case .wrongKey: "the account key does not fit the epoch in force"
        case .ticketUsed: "the exported file was used or closed before"
        case .full(let reason): "the account has no room: \(reason)"
        case .epochsExhausted: "a member used up the epoch numbers; remove the device that made the epoch in force"
        case .namesExhausted: "a member used up the name counters of the device; remove the device that named it"
        case .badName: "a device name has 1 to 64 bytes, and not only spaces"
        }
    }
}
