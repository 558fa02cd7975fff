import Glibc
package import LoopIO

/// A failed transfer: a reason for programs and a message for people.
package struct TransferFailure: Error, Hashable, Sendable {
    /// The kind of failure. The raw value is part of the transfer protocol.
    package enum Reason: String, Sendable, CaseIterable {
        /// Another program is receiving the same content.
        case busy
        /// A user or a program cancelled it.
        case cancelled
        /// The source changed while it was being sent.
        case changed
        /// Something already has the name intended for the content.
        case exists
        /// Any failure without a more specific reason.
        case failed
        /// The disk or a quota is full, or the file is larger than the system allows.
        case full
        /// The connection broke, or the other device ended the stream too early.
        case gone
        /// The name is absent or cannot be used for a file on this device.
        case name
        /// The other device violated the protocol.
        case malformed
        /// The content has its name, but may be lost in a power failure.
        case stored
        /// The content exceeds a limit on bytes or entries.
        case tooLarge
        /// The source or the destination cannot be opened, read or written.
        case unreadable
        /// A folder contains an item that is never accepted from another device, such as a link.
        case unsafe
        /// The version or kind of the transfer is unknown to this program.
        case unsupported

        /// The message sent to the other device when there is no more specific one.
        var defaultPeerMessage: String {
            switch self {
            case .busy: "another program there is receiving the same content"
            case .cancelled: "it was cancelled there"
            case .changed: "it changed there while it was being sent"
            case .exists: "something there already has that name"
            case .failed: "it failed there"
            case .full: "there is not enough space there"
            case .gone: "the connection ended before the transfer was complete"
            case .name: "its name cannot be used for a file there"
            case .malformed:
                "it does not understand this device; check that both devices run the same version of Handoff"
            case .stored: "it is complete, but may be lost in a power failure"
            case .tooLarge: "it exceeds the limits there"
            case .unreadable: "it cannot be opened, read or written there"
            case .unsafe: "it contains an item that is never accepted from another device, such as a link"
            case .unsupported: "this kind of transfer is not supported there"
            }
        }
    }

    /// The kind of failure.
    package let reason: Reason
    /// The attempted operation, its object, the reason of the failure and a solution: a lowercase
    /// fragment without a full stop. Safe to display.
    package let message: String
    /// The message sent to the other device. It reveals nothing about this device, such as a file
    /// path.
    let peerMessage: String
    /// True if the other device reported the failure, false if this device detected it.
    package let isReported: Bool

    /// Creates a failure that this device detected.
    ///
    /// The other device receives only the default message for the reason.
    package init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
        peerMessage = reason.defaultPeerMessage
        isReported = false
    }

    /// Creates a failure reported by the other device. `message` has been escaped for display.
    init(reported reason: Reason, _ message: String) {
        self.init(reason, message, peerMessage: message, isReported: true)
    }

    private init(_ reason: Reason, _ message: String, peerMessage: String, isReported: Bool) {
        self.reason = reason
        self.message = message
        self.peerMessage = peerMessage
        self.isReported = isReported
    }
}

extension TransferFailure: CustomStringConvertible {
    /// The message, prefixed if the other device reported it.
    package var description: String {
        isReported ? "the other device reports: \(message)" : message
    }
}

extension TransferFailure {
    /// Creates a failure with the same message for both devices.
    /// - Parameter message: at most 1,024 bytes that reveal nothing about this device.
    package static func shared(_ reason: Reason, _ message: String) -> TransferFailure {
        TransferFailure(reason, message, peerMessage: message, isReported: false)
    }

    /// Creates a failure for a system call on a file.
    /// - Parameter action: the attempted operation and its object, such as `cannot read a.txt`.
    package static func system(_ action: String, _ error: Errno) -> TransferFailure {
        switch error {
        case .noSpace, .quotaExceeded:
            TransferFailure(.full, "\(action): \(error); free up space there, then try again")
        case .fileTooLarge:
            TransferFailure(
                .full, "\(action): \(error); the file system or a limit of this process rejects files that large")
        default:
            TransferFailure(.unreadable, "\(action): \(error)")
        }
    }

    /// The content has its name, but its folder could not be synchronised to disk (fsync(2)).
    static func stored(_ path: String, _ error: Errno) -> TransferFailure {
        TransferFailure(
            .stored,
            "\(path) is complete, but may be lost in a power failure: cannot synchronise its folder: \(error)")
    }

    /// The other device sent data that violates the protocol.
    static func malformed(_ what: String) -> TransferFailure {
        TransferFailure(
            .malformed,
            "cannot understand the other device: \(what); check that both devices run the same version of Handoff")
    }

    /// The other device ended its direction of the stream too early.
    static let ended = TransferFailure(
        .gone, "the other device ended the stream before the transfer was complete; try again to continue")
}

extension Errno {
    /// ENOSPC: the file system is full.
    static let noSpace = Errno(rawValue: ENOSPC)
    /// EDQUOT: the user's disk quota is exhausted.
    static let quotaExceeded = Errno(rawValue: EDQUOT)
}
