package import HandoffAccount
package import HandoffCrypto
import HandoffLog
package import HandoffModel

/// Changes that people ask for: who belongs to the account, and what the devices are called.
extension AccountKeeper {
    /// Admits a device that was paired, under a name, and notes in the same durable write that it is not known yet to have
    /// stored the account. A member that is paired again keeps its place and may get another name.
    ///
    /// - Parameter completion: gets the state that is stored; its roster and key may be handed over from then on. Refused
    ///   with `AccountError` (among others `noCurrentKey`, before anything is stored) or `Refusal.noAccount`.
    package func admit(
        _ key: PublicKey, name: String, completion: @escaping (Result<AccountState, any Error>) -> Void
    ) {
        change { [device] state in
            guard let state else { throw Refusal.noAccount }
            guard state.isCurrent else { throw AccountError.noCurrentKey }
            return try state.pairing(key, name: name, by: device)
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// A device that was admitted by pairing has the account: it said so, or was heard in the epoch that holds.
    package func finished(_ device: DeviceID) {
        guard state?.unfinished.contains(device) ?? false else { return }
        change { state in
            guard let state, state.unfinished.contains(device) else { return nil }
            return state.finishing(device)
        } completion: { [log] result in
            // It stays listed as unfinished, and the next word of it tries again.
            if case .failure(let error) = result { log.error("Cannot note a pairing", ["error": "\(error)"]) }
        }
    }

    /// Joins the account that a member handed over when this device was paired.
    ///
    /// - Parameters:
    ///   - roster: as it came, its signatures checked (`Roster(decoding:)`). Whether the member that sent it is live in it
    ///     is for the caller to check.
    ///   - completion: gets the account once it is stored: only then the member may be told. Refused with
    ///     `Refusal.exists`, or with `AccountError` when the roster does not admit this device or the key is not the one
    ///     that it commits to.
    package func join(
        roster: Roster, accountKey: SecretBytes, completion: @escaping (Result<AccountID, any Error>) -> Void
    ) {
        change { [deviceID, surroundings] state in
            if let state { throw Refusal.exists(state.accountID) }
            return try AccountState.joining(
                roster, device: deviceID, accountKey: accountKey, now: surroundings.unixSeconds())
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0.accountID) } ?? .failure(Refusal.noAccount)
                })
        }
    }
}
