package import HandoffAccount
package import HandoffCrypto
import HandoffLog
package import HandoffModel
import LoopIO
import Timing

/// Changes that people ask for: who belongs to the account, and what the devices are called.
extension AccountStore {
    /// Admits a device that was paired, under a name, and notes in the same durable write that it is not known yet to have
    /// stored the account. A member that is paired again keeps its place and may get another name.
    ///
    /// - Parameter completion: gets the state that is stored; its roster and key may be handed over from then on. Refused
    ///   with `AccountError` (among others `noCurrentKey`, before anything is stored) or `Refusal.noAccount`.
    package func admit(
        _ key: PublicKey, name: String, completion: @escaping (Result<AccountState, any Error>) -> Void
    ) {
        change { [self] state in
            let state = try member(state)
            guard state.isCurrent else { throw AccountError.noCurrentKey }
            return try state.pairing(key, name: name, by: device)
        } completion: { [self] result in
            // What it said before, it said of an account that it may have lost since.
            if case .success = result { finishing.remove(DeviceID(key)) }
            completion(
                result.flatMap { state in
                    state.map { .success($0) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Devices that were admitted by pairing and have not said that they have the account, whether or not it is stored yet
    /// that the others have.
    package var unfinished: Set<DeviceID> { (state?.unfinished ?? []).subtracting(finishing) }

    /// A device that was admitted by pairing has the account: it said so, or was heard in the epoch that holds. It says so
    /// once, so that this is kept until it is stored.
    package func finished(_ device: DeviceID) {
        guard state?.unfinished.contains(device) ?? false, finishing.insert(device).inserted else { return }
        review()
    }

    /// Stores who has finished joining.
    func noteFinished() {
        change { [self] state in
            guard let state, !finishing.isDisjoint(with: state.unfinished) else { return nil }
            return finishing.reduce(state) { $0.finishing($1) }
        } completion: { [self] result in
            guard case .failure(let error) = result else { return }
            log.error("Cannot note a pairing", ["error": "\(error)"])
            retry()
        }
    }

    /// Joins the account that a member handed over when this device was paired.
    ///
    /// - Parameters:
    ///   - roster: as it came, its signatures checked (`Roster(decoding:)`). Whether the member that sent it is live in it
    ///     is for the caller to check.
    ///   - completion: gets the account once it is stored: only then the member may be told. Refused with
    ///     `Refusal.exists` or `Refusal.removed`, or with `AccountError` when the roster does not admit this device or the key is not the one
    ///     that it commits to.
    package func join(
        roster: Roster, accountKey: SecretBytes, completion: @escaping (Result<AccountID, any Error>) -> Void
    ) {
        change { [self] state in
            try refuseAnother(state)
            return try AccountState.joining(
                roster, device: deviceID, accountKey: accountKey, now: wallClock.unixSeconds)
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0.accountID) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Removes a member for ever, with a new key in the same durable write. This device itself: see ``leave(notifying:completion:)``.
    ///
    /// - Parameters:
    ///   - dropping: of those whom it let in (`RosterView.admitted(by:)`), the ones that go with it, and all whom they let
    ///     in; the others stay.
    ///   - completion: gets the state that is stored.
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

    /// Gives a member a name that all see.
    package func rename(_ member: DeviceID, to name: String, completion: @escaping (Result<Void, any Error>) -> Void) {
        change { [self] state in
            let state = try self.member(state)
            let named = try state.naming(member, name, by: device)
            return named.roster.digest == state.roster.digest ? nil : named
        } completion: { result in
            completion(result.map { _ in })
        }
    }

    /// Gives this device the name that it is configured with, if that has changed since it last did, and it is a member.
    package func takeConfiguredName() {
        change { [device, deviceID, configuredName] state in
            guard let state, state.view.isLive(deviceID), state.configuredName != configuredName else { return nil }
            return try state.configured(name: configuredName, by: device)
        } completion: { [log] result in
            if case .failure(let error) = result { log.error("Cannot name this device", ["error": "\(error)"]) }
        }
    }

    /// Says for ever that this device is no member any more. What is stored then makes the next start forget the account, if
    /// nobody does so before.
    ///
    /// - Parameter notifying: tells the others of the new state while connections to them are still open, and calls back;
    ///   until then this device acts as a member.
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
