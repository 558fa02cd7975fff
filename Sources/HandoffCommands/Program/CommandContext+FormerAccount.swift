import HandoffClient
import HandoffControl
import HandoffModel

extension CommandContext {
    /// Handles the daemon's refusal to create or join an account. If the reason is that this device
    /// was removed from its former account, leaves that account first: its keys are useless, and a
    /// new identity is needed anyway.
    ///
    /// - Parameters:
    ///   - failure: the refusal, which ends the command if leaving does not help.
    ///   - again: repeats the refused request under the new identity.
    func leaveFormerAccount(after failure: CommandFailure, _ again: @escaping () -> Void) {
        guard failure.name == "AccountRefused" else { return fail(failure) }
        connect { client in
            client.getStatus { [unowned self, unowned client] result in
                guard case .success(let status) = result, status.standing?.known?.problem != nil else {
                    return fail(failure)
                }
                // The daemon closes all connections once it has the new identity.
                client.onEnd = { [unowned self] in
                    note("left the former account; this device has a new identity")
                    again()
                }
                client.leaveAccount { [unowned self] result in
                    if case .failure(let error) = result { fail(CommandFailure(leaving: error)) }
                }
            }
        }
    }
}
