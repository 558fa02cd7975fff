import HandoffControl
import HandoffJSON

// The building blocks of the typed methods.
extension ControlClient {
    /// Makes a call with one reply, which is decoded by `decode`.
    func request<Value>(
        _ method: String, _ parameters: JSONObject,
        decode: @escaping (JSONObject) throws(VarlinkError) -> Value,
        _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        call(method, parameters) { result in then(Self.decoded(result, decode)) }
    }

    func request<Value: ControlMessage>(
        _ method: String, _ parameters: JSONObject, _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        request(method, parameters, decode: Value.init(json:), then)
    }

    /// Makes a call with one reply, of which only one field is used.
    func request<Value: Decodable>(
        _ method: String, _ parameters: JSONObject = [:], field: String,
        _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        request(method, parameters, decode: { reply throws(VarlinkError) in try Fields(reply).value(field) }, then)
    }

    /// Makes a call whose reply only confirms completion.
    func request(
        _ method: String, _ parameters: JSONObject, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        request(method, parameters, decode: { _ in }, then)
    }

    /// Makes a call with several replies. The handler receives whether a reply is the last. A
    /// failure always is.
    func follow<Value: ControlMessage>(
        _ method: String, _ parameters: JSONObject,
        _ each: @escaping (Result<Value, ClientError>, _ isLast: Bool) -> Void
    ) {
        stream(method, parameters) { [weak self] result in
            Self.forward(result, unknown: { self?.onUnknownEvent?($0) }, each)
        }
    }

    /// Makes a call whose replies do not end. If the daemon ends them regularly, it is treated as
    /// lost, as after a crash.
    func followIndefinitely<Value: ControlMessage>(
        _ method: String, _ parameters: JSONObject, _ each: @escaping (Result<Value, ClientError>) -> Void
    ) {
        let path = path
        follow(method, parameters) { (result: Result<Value, ClientError>, isLast) in
            each(result)
            if isLast, case .success = result { each(.failure(.lost(path: path))) }
        }
    }

    /// Decodes one of several replies and passes it on.
    /// - Parameter unknown: receives the name of an unknown event if more replies follow. Without
    ///   the last reply, the result of the call would be unknown: that is a failure.
    static func forward<Value: ControlMessage>(
        _ result: Result<VarlinkReply, ClientError>, unknown: (String) -> Void = { _ in },
        _ each: (Result<Value, ClientError>, _ isLast: Bool) -> Void
    ) {
        switch result {
        case .failure(let error): each(.failure(error), true)
        case .success(let reply):
            do throws(VarlinkError) {
                each(.success(try Value(json: reply.parameters)), !reply.continues)
            } catch {
                if case .unknownEvent(let name) = error, reply.continues { return unknown(name) }
                each(.failure(.badAnswer("\(error)")), !reply.continues)
            }
        }
    }

    static func decoded<Value>(
        _ result: Result<VarlinkReply, ClientError>, _ decode: (JSONObject) throws(VarlinkError) -> Value
    ) -> Result<Value, ClientError> {
        switch result {
        case .failure(let error): return .failure(error)
        case .success(let reply):
            do throws(VarlinkError) {
                return .success(try decode(reply.parameters))
            } catch {
                return .failure(.badAnswer("\(error)"))
            }
        }
    }
}
