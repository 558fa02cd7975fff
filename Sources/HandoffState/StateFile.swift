import HandoffAccount
import HandoffHandlers

/// A file of the state folder. The names never change.
package enum StateFile: String, Sendable, CaseIterable {
    /// Seed of the device key (`IdentityFile`). Its presence marks a folder as a state folder.
    case identity
    /// Account (`AccountState`).
    case account
    /// Generation number of the latest start (`GenerationFile`).
    case boot
    /// Static peers (`PeersFile`), for people to read.
    case peers
    /// Apps that are switched off (`AppSwitches`), for people to read.
    case apps
    /// Claims of apps in the order first seen (`ClaimHistory`), for people to read.
    case claims
    /// Directions that the user has switched off (`Switches`), for people to read.
    case switches
    /// Networks that the user knows (`NetworksFile`), for people to read.
    case networks
    /// When another device was last seen (`ContactFile`), for people to read.
    case contact
    /// The latest calls with the static label (`CallersFile`), for people to read.
    case callers
    /// Receipts that their origins have not confirmed (`ReceiptsFile`).
    case receipts
    /// Records that the identity in this folder has an account.
    case joined
    /// Records that account and identity are being deleted. Exists only during the deletion.
    case leaving

    /// The name under which a new version is written before it replaces the old one. Only the
    /// holder of the lock writes, so a fixed name cannot clash, and leftovers of a crash can be
    /// found.
    var temporaryName: String {
        ".\(rawValue).new"
    }

    /// Maximum size in bytes. A longer file is invalid and is not read.
    var maxFile: Int {
        switch self {
        case .identity: FileFormat.identity.maxFile
        case .account: FileFormat.account.maxFile
        case .boot: FileFormat.boot.maxFile
        case .peers: TextSeal.byteCount + PeersFile.maxFile
        case .apps: TextSeal.byteCount + AppSwitches.maxFile
        case .claims: TextSeal.byteCount + ClaimHistory.maxBytes
        case .switches: TextSeal.byteCount + Switches.maxFile
        case .networks: TextSeal.byteCount + NetworksFile.maxFile
        case .contact: TextSeal.byteCount + ContactFile.maxFile
        case .callers: TextSeal.byteCount + CallersFile.maxFile
        case .receipts: TextSeal.byteCount + ReceiptsFile.maxFile
        case .joined, .leaving: 256
        }
    }
}
