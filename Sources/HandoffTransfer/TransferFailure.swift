import Glibc
package import LoopIO

/// Why a transfer ended without its content: a reason for programs and a message for people.
package struct TransferFailure: Error, Hashable, Sendable {
    /// What kind of failure it is; the raw value crosses the stream.
    package enum Reason: String, Sendable, CaseIterable {
        /// Another program receives the same content at this moment.
        case busy
        /// A user or a program called it off.
        case cancelled
        /// The source was changed while it was sent.
        case changed
        /// Something has the name that the content shall get.
        case exists
        /// Anything that has no reason of its own here.
        case failed
        /// The disk or a quota is full, or the file is larger than the system allows.
        case full
        /// The connection broke, or the other side ended before its part was done.
        case gone
        /// A name that is not used for a file here, or none at all.
        case name
        /// The other side broke the protocol.
        case malformed
        /// The content has its name, but may not be there after a power failure.
        case stored
        /// More bytes or entries than are taken.
        case tooLarge
        /// The source or the place where it shall go cannot be opened, read or written.
        case unreadable
        /// A folder contains what is never taken from another device, such as a link.
        case unsafe
        /// A version or kind of transfer that this program does not know.
        case unsupported

        /// The reason, for a person at the other device.
        var words: String {
            switch self {
            case .busy: "another program there receives the same content"
            case .cancelled: "it was cancelled there"
            case .changed: "it was changed there while it was sent"
            case .exists: "something there has that name already"
            case .failed: "it failed there"
            case .full: "there is no room left there"
            case .gone: "the connection ended before the transfer was complete"
            case .name: "its name is no name for a file there"
            case .malformed: "it does not understand this device; is Handoff here of the same version?"
            case .stored: "it is complete, but may not be there after a power failure"
            case .tooLarge: "it is more than is taken there"
            case .unreadable: "it cannot be opened, read or written there"
            case .unsafe: "it contains what is never taken from another device, such as a link"
            case .unsupported: "such a transfer is not known there"
            }
        }
    }

    /// What kind of failure it is.
    package let reason: Reason
    /// What was tried, on what, why it failed and what to do: a fragment in lower case without a full stop. Safe to show.
    package let message: String
    /// What the other device is told of it: nothing of this device's, such as the path of a file.
    let told: String
    /// Whether the other device said so. Otherwise it was found on this one.
    package let isReported: Bool

    /// A failure that was found on this device.
    ///
    /// The other device is told the reason in words.
    package init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
        told = reason.words
        isReported = false
    }

    /// A failure that the other device has told; its words were made safe to show.
    init(reported reason: Reason, _ message: String) {
        self.init(reason, message, told: message, isReported: true)
    }

    private init(_ reason: Reason, _ message: String, told: String, isReported: Bool) {
        self.reason = reason
        self.message = message
        self.told = told
        self.isReported = isReported
    }
}

extension TransferFailure: CustomStringConvertible {
    /// The message, with the teller when that is the other device.
    package var description: String {
        isReported ? "the other device reports: \(message)" : message
    }
}

extension TransferFailure {
    /// A failure of which both devices are told the same.
    /// - Parameter message: names nothing of this device, and has at most 1,024 bytes.
    package static func told(_ reason: Reason, _ message: String) -> TransferFailure {
        TransferFailure(reason, message, told: message, isReported: false)
    }

    /// A system call about a file failed.
    /// - Parameter action: what was tried and on what, such as `cannot read a.txt`.
    package static func system(_ action: String, _ error: Errno) -> TransferFailure {
        switch error {
        case .noSpace, .quotaExceeded:
            TransferFailure(.full, "\(action): \(error); make room there, then try again")
        case .fileTooLarge:
            TransferFailure(
                .full, "\(action): \(error); the file system or a limit of this process allows no file of that size")
        default:
            TransferFailure(.unreadable, "\(action): \(error)")
        }
    }

    /// What arrived has its name, and the folder's own record of that could not be brought to the disk (fsync(2)).
    static func stored(_ path: String, _ error: Errno) -> TransferFailure {
        TransferFailure(
            .stored,
            "\(path) is complete, but may not be there after a power failure: cannot synchronise its folder: \(error)")
    }

    /// The other side sent what the protocol does not have.
    static func malformed(_ what: String) -> TransferFailure {
        TransferFailure(
            .malformed, "cannot understand the other device: \(what); is Handoff there of the same version?")
    }

    /// The other side ended its direction too early.
    static let ended = TransferFailure(
        .gone, "the other device ended the stream before the transfer was complete; try again to go on")
}

extension Errno {
    /// ENOSPC: the file system has no room left.
    static let noSpace = Errno(rawValue: ENOSPC)
    /// EDQUOT: the user's share of the file system is used up.
    static let quotaExceeded = Errno(rawValue: EDQUOT)
}
