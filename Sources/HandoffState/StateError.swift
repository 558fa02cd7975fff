package import HandoffAccount
package import HandoffModel
package import LoopIO

/// Why the state folder, or a file in it, is unusable. All messages name the path.
///
/// None of these is repaired without the user's knowledge. An unreadable file is left unchanged,
/// because it may be the only copy of a key.
package enum StateError: Error, Equatable, Sendable {
    /// No folder was given, and the environment does not determine one.
    case noStatePath
    /// The folder cannot be created or opened.
    case cannotOpen(path: String, Errno)
    /// The folder belongs to another user.
    case wrongOwner(path: String, owner: UInt32)
    /// Other users may enter the folder; `mode` is its permission bits.
    case openToOthers(path: String, mode: UInt32)
    /// Another daemon uses the folder; `process` is its process id if it could be read.
    case inUse(path: String, process: Int32?)
    /// A file cannot be read.
    case cannotRead(path: String, Errno)
    /// A file cannot be written; its previous version is unchanged.
    case cannotWrite(path: String, Errno)
    /// A file's content is damaged or invalid.
    case unusable(path: String, FileError)
    /// The checksum in the first line of a text file does not match the content.
    case textDamaged(path: String)
    /// The identity belongs to an account, but the account file does not exist.
    case accountMissing(path: String, identity: String)
    /// There is an account, but the key of its device is missing.
    case identityMissing(path: String, account: String)
    /// The account in the file has never contained this device: one of the two files was replaced.
    case foreignIdentity(path: String, account: String, DeviceID)
    /// A line of the list of peers is not an address.
    case badPeer(path: String, line: Int)
    /// A line of the list of switched-off apps is not an app id.
    case badApp(path: String, line: Int)
    /// A line of the switches file is invalid.
    case badSwitch(path: String, line: Int)
    /// A line of the known networks is invalid.
    case badNetwork(path: String, line: Int)
}

extension StateError {
    /// True if the folder is unusable until the user corrects it: restarting would fail again.
    package var needsCorrection: Bool {
        switch self {
        case .cannotOpen, .inUse, .cannotWrite: false
        // No valid file has that size. Other read errors may be temporary.
        case .cannotRead(_, let error): error == .fileTooLarge
        case .noStatePath, .wrongOwner, .openToOthers, .unusable, .textDamaged, .accountMissing, .identityMissing,
            .foreignIdentity,
            .badPeer, .badApp, .badSwitch, .badNetwork:
            true
        }
    }
}

extension StateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noStatePath:
            "cannot choose a state folder: none of --state-dir, STATE_DIRECTORY, XDG_STATE_HOME and HOME is set"
        case .cannotOpen(let path, let error):
            "cannot open state folder \(path): \(error)"
        case .wrongOwner(let path, let owner):
            "cannot use state folder \(path): it belongs to user \(owner)"
        case .openToOthers(let path, let mode):
            "cannot use state folder \(path): its mode is \(String(mode, radix: 8)), but only its owner may enter it (700)"
        case .inUse(let path, let process):
            "state folder \(path) is in use by \(process.map { "the daemon with process id \($0)" } ?? "another daemon")"
        case .cannotRead(let path, let error):
            "cannot read \(path): \(error)"
        case .cannotWrite(let path, let error):
            "cannot write \(path): \(error)"
        case .unusable(let path, let error):
            "cannot use \(path): it \(error); it was left unchanged"
        case .textDamaged(let path):
            "cannot use \(path): its content does not match the checksum in its first line; the file was left "
                + "unchanged. If its content is correct, delete the first line"
        case .accountMissing(let path, let identity):
            "account file \(path) is missing, but the device of \(identity) was in an account: restore the account "
                + "file, or move the identity file away to start as a new device without an account"
        case .identityMissing(let path, let account):
            "identity file \(path) is missing, but \(account) belongs to it: restore the identity file, or "
                + "move the account file away"
        case .foreignIdentity(let path, let account, let device):
            "identity file \(path) (device \(device.short)) does not belong to \(account): one of them was replaced"
        case .badPeer(let path, let line):
            "cannot use \(path): line \(line) is not HOST:PORT; it was left unchanged"
        case .badApp(let path, let line):
            "cannot use \(path): line \(line) is not the id of an app; it was left unchanged"
        case .badSwitch(let path, let line):
            "cannot use \(path): line \(line) is invalid; it was left unchanged. Deleting the file switches "
                + "everything on"
        case .badNetwork(let path, let line):
            "cannot use \(path): line \(line) does not begin with the address of a gateway; it was left unchanged"
        }
    }
}
