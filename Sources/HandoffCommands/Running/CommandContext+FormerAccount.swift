import HandoffClient
import HandoffControl
import HandoffModel

extension CommandContext {
    /// Continues after the daemon refused to create or join an account. If that is because this device was removed from its former
    /// account, leaves that account first: the keys are worth nothing any more, and a new identity is needed anyway.
    ///
    /// - Parameters:
    ///   - failure: the refusal; the command ends with it where leaving does not help.
    ///   - again: makes the refused call once more, under the new identity.
    func leaveFormerAccount(after failure: CommandFailure, _ again: @escaping () -> Void) {
        guard failure.name == "AccountRefused" else { return fail(failure) }
        connect { client in
            client.getStatus { [unowned self, unowned client] result in
                guard case .success(let status) = result, status.standing?.problem != nil else { return fail(failure) }
                // The daemon ends all connections once it has the new identity.
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
