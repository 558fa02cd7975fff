package import HandoffAccount
package import HandoffCrypto
package import HandoffModel
import LoopIO

/// Changes requested by the user: members and device names.
extension AccountStore {
    /// Admits a paired device under a name. The same durable write records that it has not
    /// confirmed storing the account. Pairing a member again keeps its membership and may change
    /// its name.
    ///
    /// - Parameter completion: receives the stored state, whose roster and key may be sent from
    ///   then on. Fails with `AccountError` (including `noCurrentKey`, before anything is stored)
    ///   or `Refusal.noAccount`.
    package func admit(
        _ key: PublicKey, name: String, completion: @escaping (Result<AccountState, any Error>) -> Void
    ) {
        change { [self] state in
            let state = try member(state)
            guard state.isCurrent else { throw AccountError.noCurrentKey }
            return try state.pairing(key, name: name, by: device)
        } completion: { [self] result in
            // An earlier confirmation applied to an account that the device may have lost since.
            if case .success = result { finishing.remove(DeviceID(key)) }
            completion(
                result.flatMap { state in
                    state.map { .success($0) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Devices that were admitted by pairing and have not confirmed that they have the account.
    /// Excludes confirmed devices even before the confirmation is stored.
    package var unfinished: Set<DeviceID> { (state?.unfinished ?? []).subtracting(finishing) }

    /// Records that a device admitted by pairing has the account: it confirmed this, or was seen in
    /// the current epoch. It confirms only once, so the record is kept until it is stored.
    package func finished(_ device: DeviceID) {
        guard state?.unfinished.contains(device) ?? false, finishing.insert(device).inserted else { return }
        review()
    }

    /// Stores which devices have finished joining.
    func noteFinished() {
        change { [self] state in
            guard let state, !finishing.isDisjoint(with: state.unfinished) else { return nil }
            return finishing.reduce(state) { $0.finishing($1) }
        } completion: { [self] result in
            guard case .failure(let error) = result else { return }
            log.error("Cannot record that a paired device has joined", ["error": "\(error)"])
            retry()
        }
    }

    /// Joins the account that a member sent to this device in pairing.
    ///
    /// - Parameters:
    ///   - roster: as received, with its signatures checked (`Roster(decoding:)`). The caller
    ///     checks whether the sending member is live in it.
    ///   - completion: receives the account once it is stored. Confirm to the member only then.
    ///     Fails with `Refusal.exists` or `Refusal.removed`, or with `AccountError` when the roster
    ///     does not admit this device or the key does not match its commitment.
    package func join(
        roster: Roster, accountKey: SecretBytes, completion: @escaping (Result<AccountID, any Error>) -> Void
    ) {
        change { [self] state in
            try requireNoAccount(state)
            return try AccountState.joining(
                roster, device: deviceID, accountKey: accountKey, now: wallClock.unixSeconds)
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0.accountID) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Permanently removes a member and generates a new key in the same durable write. To remove
    /// this device itself, see ``leave(notifying:completion:)``.
    ///
    /// - Parameters:
    ///   - dropping: those of the devices that it admitted (`RosterView.admitted(by:)`) that are
    ///     removed with it, together with all devices that they admitted. The others stay.
    ///   - completion: receives the stored state.
    package func remove(
        _ member: DeviceID, dropping: Set<DeviceID>, completion: @escaping (Result<AccountState, any Error>) -> Void
    ) {
        change { [self] state in
            let state = try self.member(state)
            let keeping = state.view.admitted(by: member).subtracting(dropping)
            return try state.removing(member, keeping: keeping, by: device, now: wallClock.unixSeconds)
        } completion: { [log] result in
            switch result {
            case .success(let state?):
                log.notice("A device was removed", ["device": member.short, "epoch": "\(state.epoch ?? 0)"])
                completion(.success(state))
            case .success(nil): completion(.failure(Refusal.noAccount))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Gives a member a name that all members see.
    package func rename(_ member: DeviceID, to name: String, completion: @escaping (Result<Void, any Error>) -> Void) {
        change { [self] state in
            let state = try self.member(state)
            let named = try state.naming(member, name, by: device)
            return named.roster.digest == state.roster.digest ? nil : named
        } completion: { result in
            completion(result.map { _ in })
        }
    }

    /// Applies the configured name to this device if it has changed since last applied and the
    /// device is a member.
    package func applyConfiguredName() {
        change { [device, deviceID, configuredName] state in
            guard let state, state.view.isLive(deviceID), state.configuredName != configuredName else { return nil }
            return try state.configured(name: configuredName, by: device)
        } completion: { [log] result in
            if case .failure(let error) = result { log.error("Cannot name this device", ["error": "\(error)"]) }
        }
    }

    /// Records permanently that this device is no longer a member. If the account is not deleted
    /// earlier, the next start deletes it.
    ///
    /// - Parameter notifying: sends the new state to the others while connections to them are still
    ///   open, and calls back. Until then this device acts as a member.
    package func leave(
        notifying: @escaping (AccountState, @escaping () -> Void) -> Void,
        completion: @escaping (Result<Void, any Error>) -> Void
    ) {
        change { [self] state in
            try member(state).leaving(by: device)
        } notifying: { state, done in
            notifying(state, done)
        } completion: { [log] result in
            if case .success = result { log.notice("This device has left its account") }
            completion(result.map { _ in })
        }
    }
}
