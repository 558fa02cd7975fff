package import HandoffAccount
package import HandoffModel
package import LoopIO

/// Why the state folder, or a file in it, cannot be used. All messages name the path.
///
/// Nothing of these is repaired behind the user's back: a file that cannot be read is left as it is, since it may be the
/// only copy of a key.
package enum StateError: Error, Equatable, Sendable {
    /// Neither a folder was given, nor does the environment say where one could be.
    case noPlace
    /// The folder cannot be made or opened.
    case cannotOpen(path: String, Errno)
    /// The folder belongs to another user.
    case notOurs(path: String, owner: UInt32)
    /// Others may enter the folder; `mode` is its permission bits.
    case openToOthers(path: String, mode: UInt32)
    /// Another daemon uses the folder; its process id, if it could be read.
    case inUse(path: String, process: Int32?)
    /// A file cannot be read.
    case cannotRead(path: String, Errno)
    /// A file cannot be written; the one that was there before still is.
    case cannotWrite(path: String, Errno)
    /// A file's content is damaged, or not what it should be.
    case unusable(path: String, FileError)
    /// The checksum in the first line of a text file is not that of its content.
    case textDamaged(path: String)
    /// The identity belongs to an account, but the account's file does not exist.
    case accountMissing(path: String, identity: String)
    /// There is an account, but the key of the device that was in it is gone.
    case identityMissing(path: String, account: String)
    /// The account in the file has never known this device: one of the two files was replaced.
    case foreignIdentity(path: String, account: String, DeviceID)
    /// A line of the list of peers is no address.
    case badPeer(path: String, line: Int)
    /// A line of the list of apps that are switched off is no app's id.
    case badApp(path: String, line: Int)
    /// A line of the switches is none of ours.
    case badSwitch(path: String, line: Int)
    /// A line of the known networks is none.
    case badNetwork(path: String, line: Int)
}

extension StateError {
    /// True if the folder cannot be used before somebody has corrected something in it: another start would fail as well.
    package var needsCorrection: Bool {
        switch self {
        case .cannotOpen, .inUse, .cannotWrite: false
        // No file of ours has that size; other errors of reading may be over at the next start.
        case .cannotRead(_, let error): error == .fileTooLarge
        case .noPlace, .notOurs, .openToOthers, .unusable, .textDamaged, .accountMissing, .identityMissing,
            .foreignIdentity,
            .badPeer, .badApp, .badSwitch, .badNetwork:
            true
        }
    }
}

extension StateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noPlace:
            "no place for the state folder: neither --state-dir, STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set"
        case .cannotOpen(let path, let error):
            "cannot open state folder \(path): \(error)"
        case .notOurs(let path, let owner):
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
            "cannot use \(path): it \(error); it was left as it is"
        case .textDamaged(let path):
            "cannot use \(path): its content does not match the checksum in its first line; the file was left as it is. "
                + "If its content is correct, delete the first line"
        case .accountMissing(let path, let identity):
            "account file \(path) is missing, but the device of \(identity) was in an account: restore the first, or move "
                + "the second away to start as a new device that is in no account"
        case .identityMissing(let path, let account):
            "identity file \(path) is missing, but \(account) belongs to it: restore the first, or move the second away"
        case .foreignIdentity(let path, let account, let device):
            "identity file \(path) (device \(device.short)) does not belong to \(account): one of them was replaced"
        case .badPeer(let path, let line):
            "cannot use \(path): line \(line) is not HOST:PORT; it was left as it is"
        case .badApp(let path, let line):
            "cannot use \(path): line \(line) is not the id of an app; it was left as it is"
        case .badSwitch(let path, let line):
            "cannot use \(path): line \(line) is no switch; it was left as it is, and deleting it switches everything on"
        case .badNetwork(let path, let line):
            "cannot use \(path): line \(line) does not begin with the address of a gateway; it was left as it is"
        }
    }
}
