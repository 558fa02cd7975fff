import HandoffControl
import HandoffControlServer

extension ControlCall {
    /// Answers with the error reply that an error of any part of the daemon stands for.
    func fail(_ error: any Error) {
        if let error = error as? VarlinkError { return fail(error) }
        let reply = CallError(error)
        fail(reply.name, reply.parameters)
    }
}
