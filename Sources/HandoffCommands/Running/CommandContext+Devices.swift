import HandoffClient
import HandoffControl

extension CommandContext {
    /// How long a call that waits for nobody else may take, before a command asks its user anything.
    private static let timeout = Duration.seconds(45)

    /// Connects, and goes on with the devices of the account; a failure of what follows is one of the command.
    func withDevices(_ then: @escaping (ControlClient, [ControlDevice]) throws(CommandFailure) -> Void) {
        connect { client in
            var isWaiting = true
            after(Self.timeout) { [unowned self] in
                if isWaiting {
                    fail(CommandFailure(.notReachable(path: socketPath, reason: "it does not answer")))
                }
            }
            client.listDevices { [unowned self, unowned client] result in
                isWaiting = false
                do throws(CommandFailure) {
                    let devices: [ControlDevice]
                    do throws(ClientError) {
                        devices = try result.get()
                    } catch {
                        throw CommandFailure(error)
                    }
                    try then(client, devices)
                } catch {
                    fail(error)
                }
            }
        }
    }
}
