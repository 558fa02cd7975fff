import HandoffClient
import HandoffControl
import LoopIO

extension CommandContext {
    /// The time limit for requests that do not depend on another device, before the user is
    /// prompted.
    private static let timeout = Duration.seconds(45)

    /// Connects and passes on the devices of the account. An error thrown by `then` fails the
    /// command.
    func withDevices(_ then: @escaping (ControlClient, [ControlDevice]) throws(CommandFailure) -> Void) {
        connect { client in
            receive(client.listDevices) { [unowned client] (devices: [ControlDevice]) throws(CommandFailure) in
                try then(client, devices)
            }
        }
    }

    /// Sends a request and passes on its result. A failure, or an error thrown by `then`, fails the
    /// command, and so does a daemon that does not respond in time.
    func receive<Value>(
        _ request: (@escaping (Result<Value, ClientError>) -> Void) -> Void,
        _ then: @escaping (Value) throws(CommandFailure) -> Void
    ) {
        let timer = loop.timer(after: Self.timeout) { [unowned self] in
            fail(CommandFailure(.notReachable(path: socketPath, reason: "it does not respond")))
        }
        request { [unowned self] result in
            timer.cancel()
            do throws(CommandFailure) {
                let value: Value
                do throws(ClientError) {
                    value = try result.get()
                } catch {
                    throw CommandFailure(error)
                }
                try then(value)
            } catch {
                fail(error)
            }
        }
    }
}
