internal import HandoffModel

/// What came of offering statements to a roster.
package struct MergeResult: Sendable {
    /// Statements that the roster did not have and now has.
    package var added: [Statement] = []
    /// Statements that make room for greater ones of the same key: older names and epoch records.
    package var dropped: [Statement] = []
    /// Statements that were not taken though their signatures may be right.
    package var refused: [Refusal] = []

    /// Whether the roster is another than before, and has to be stored before it is acted on.
    package var hasChanged: Bool {
        !added.isEmpty
    }

    /// One statement that a roster does not take.
    package struct Refusal: Sendable, Equatable {
        /// The statement.
        package let statement: Statement
        /// Why it was not taken.
        package let reason: Reason
    }

    /// Why a roster does not take a statement.
    package enum Reason: Sendable, Equatable {
        /// Nobody whom this account knows admitted the signer, or the device that it names.
        case unknownKey
        /// A limit of ``RosterLimits`` is reached; an operator has to know who did it.
        case full(FullLimit)
    }

    /// The limit that a statement would exceed.
    package enum FullLimit: String, Sendable {
        /// ``RosterLimits/keys``
        case keys
        /// ``RosterLimits/admissions``
        case admissions
        /// ``RosterLimits/removals``
        case removals
        /// ``RosterLimits/bytes``
        case bytes
    }

    /// One line for each signer whose statements met a limit, for the log: `account full, signer …`.
    package var complaints: [String] {
        var lines: [String] = []
        for refusal in refused {
            guard case .full(let limit) = refusal.reason else { continue }
            let line = "account full, signer \(refusal.statement.signerID.short), limit \(limit.rawValue)"
            if !lines.contains(line) { lines.append(line) }
        }
        return lines
    }
}
