package import HandoffAccount
import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// Finds the one party whose key a token may be made with, by the hint in front of it. Plain
/// values.
///
/// The work does not depend on the number of members: their hints under each label are hashed when
/// labels, members or tickets change, and only looked up for a caller.
package struct CallerTable {
    private(set) var keys: [Party: SecretBytes] = [:]
    private var devices: [UInt64: Party] = [:]
    /// The parties by label and hint.
    private var hinted: [Label: [UInt64: Party]] = [:]
    private var accountID: AccountID?

    package init() {}

    /// Updates the parties, and the labels under which they may call.
    ///
    /// - Parameter server: this device.
    package mutating func update(
        _ pairwise: [Party: PairwiseKeys], of accountID: AccountID?, to server: DeviceID, labels: [Label]
    ) {
        if accountID != self.accountID || Set(pairwise.keys) != Set(keys.keys) {
            self.accountID = accountID
            hinted = [:]
            keys = pairwise.mapValues(\.gate)
            devices = [:]
            for case .device(let device) in keys.keys { devices[Gate.number(device)] = .device(device) }
        }
        let labels = labels + [Gate.staticLabel]
        hinted = hinted.filter { labels.contains($0.key) }
        for label in labels where hinted[label] == nil {
            var parties: [UInt64: Party] = [:]
            for (party, key) in keys { parties[Gate.pairHint(key: key, label: label, server: server)] = party }
            hinted[label] = parties
        }
    }

    /// Returns the only party that can have written these bytes; nil for an introduction and for an
    /// unknown caller.
    ///
    /// - Parameters:
    ///   - epochs: the gate keys of the epochs in which the labels were made.
    ///   - labels: the labels that are valid now.
    func party(of knock: inout Knock, epochs: [SecretBytes], labels: [Label]) -> Party? {
        var found: Party?
        for epoch in epochs {
            let device = knock.device(epoch: epoch)
            found = found ?? devices[device]
        }
        for label in labels { found = found ?? hinted[label]?[knock.hint] }
        return found
    }
}
