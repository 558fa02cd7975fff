import HandoffAccount
import HandoffHandlers

/// A file of the state folder; the names never change.
package enum StateFile: String, Sendable, CaseIterable {
    /// Seed of the device key (`IdentityFile`). Its presence marks a folder as a state folder.
    case identity
    /// Account (`AccountState`).
    case account
    /// Number of the latest start (`BootFile`).
    case boot
    /// Static peers (`PeersFile`), for people to read.
    case peers
    /// Apps that are switched off (`AppSwitches`), for people to read.
    case apps
    /// Which app claimed what first (`ClaimHistory`), for people to read.
    case claims
    /// What the user has switched off (`Switches`), for people to read.
    case switches
    /// Networks that the user knows (`NetworksFile`), for people to read.
    case networks
    /// When another device was last heard (`ContactFile`), for people to read.
    case contact
    /// The latest calls by the static label (`CallersFile`), for people to read.
    case callers
    /// Records that the identity in this folder has an account.
    case joined
    /// Says that account and identity are being given up; only while that lasts.
    case leaving

    /// The name under which a new version is written before it takes the place of the old one. There is one writer, the
    /// holder of the lock, so that a fixed name cannot clash, and what a crash left is found again.
    var temporaryName: String {
        ".\(rawValue).new"
    }

    /// Most bytes that are read: a longer file is none of ours.
    var longest: Int {
        switch self {
        case .identity: FileFormat.identity.maxFile
        case .account: FileFormat.account.maxFile
        case .boot: FileFormat.boot.maxFile
        case .peers: TextSeal.byteCount + PeersFile.longest
        case .apps: TextSeal.byteCount + AppSwitches.longest
        case .claims: TextSeal.byteCount + ClaimHistory.longest
        case .switches: TextSeal.byteCount + Switches.maxFile
        case .networks: TextSeal.byteCount + NetworksFile.longest
        case .contact: TextSeal.byteCount + ContactFile.longest
        case .callers: TextSeal.byteCount + CallersFile.maxFile
        case .joined, .leaving: 256
        }
    }
}
