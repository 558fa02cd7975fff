import HandoffClient
import HandoffControl

extension CommandContext {
    /// The time limit for requests that do not depend on another device, before the user is
    /// prompted.
    private static let timeout = Duration.seconds(45)

    /// Connects and passes on the devices of the account. An error thrown by `then` fails the
    /// command.
    func withDevices(_ then: @escaping (ControlClient, [ControlDevice]) throws(CommandFailure) -> Void) {
        connect { client in
            var isWaiting = true
            after(Self.timeout) { [unowned self] in
                if isWaiting {
                    fail(CommandFailure(.notReachable(path: socketPath, reason: "it does not respond")))
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
