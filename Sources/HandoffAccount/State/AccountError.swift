package import HandoffModel

/// Why an operation on the account failed.
package enum AccountError: Error, Equatable, Sendable, CustomStringConvertible {
    /// This device is no longer a member.
    case notLive(DeviceID)
    /// The target device is not a member.
    case noSuchDevice(DeviceID)
    /// No open ticket has this id.
    case noSuchTicket
    /// The ticket admitted this device, so revoking it would remove this device.
    case admittedByTicket
    /// The key was permanently removed. The device needs a new key.
    case removedPermanently(DeviceID)
    /// This device does not have the key of the current epoch, so it cannot send it.
    case noCurrentKey
    /// The offered key does not match the current epoch.
    case wrongKey
    /// The file's ticket was closed or used by another device, so it admits no device.
    case ticketUsed
    /// The account has no room for the statement. `reason` names the limit.
    case full(reason: String)
    /// A member created an epoch with the greatest possible number. Remove that member.
    case epochsExhausted
    /// A member gave a name with the greatest possible counter. Remove that member.
    case namesExhausted
    /// A name is empty, consists only of spaces and invisible characters, or is longer than 64
    /// bytes.
    case badName

    package var description: String {
        switch self {
        case .notLive(let device): "this device (\(device.short)) is not a member of the account"
        case .noSuchDevice(let device): "device \(device.short) is not a member of the account"
        case .noSuchTicket: "no such ticket is open"
        case .admittedByTicket: "this device joined with that file; close it on another member"
        case .removedPermanently(let device): "device \(device.short) was removed; to rejoin, it needs a new identity"
        case .noCurrentKey: "the account key in force has not reached this device yet"
        case .wrongKey: "the account key does not match the current epoch"
        case .ticketUsed: "the exported file has already been used or closed"
        case .full(let reason): "the account has no room: \(reason)"
        case .epochsExhausted: "a member used up the epoch numbers; remove the device that created the current epoch"
        case .namesExhausted: "a member used up the name counters of the device; remove the device that named it"
        case .badName: "a device name must have 1 to 64 bytes and not only spaces"
        }
    }
}
