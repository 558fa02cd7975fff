import HandoffControl

extension ControlCall {
    /// Replies with the error for an error of any part of the daemon.
    func fail(_ error: any Error) {
        if let error = error as? VarlinkError { return fail(error) }
        let reply = CallError(error)
        fail(reply.name, reply.parameters)
    }
}
