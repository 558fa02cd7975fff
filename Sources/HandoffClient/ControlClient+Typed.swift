import HandoffControl
import HandoffJSON

// What the typed methods are made of.
extension ControlClient {
    /// A call with one reply that is decoded.
    func request<Value>(
        _ method: String, _ parameters: JSONObject,
        decode: @escaping (JSONObject) throws(VarlinkError) -> Value,
        _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        call(method, parameters) { result in then(Self.decoded(result, decode)) }
    }

    /// A call with one reply.
    func request<Value: ControlMessage>(
        _ method: String, _ parameters: JSONObject, _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        request(method, parameters, decode: Value.init(json:), then)
    }

    /// A call with one reply, of which one field matters.
    func request<Value: Decodable>(
        _ method: String, _ parameters: JSONObject = [:], field: String,
        _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        request(method, parameters, decode: { reply throws(VarlinkError) in try Fields(reply).value(field) }, then)
    }

    /// A call whose reply says no more than that it is done.
    func request(
        _ method: String, _ parameters: JSONObject, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        request(method, parameters, decode: { _ in }, then)
    }

    /// A call with many replies; the handler is told which one is the last. A failure always is.
    func follow<Value: ControlMessage>(
        _ method: String, _ parameters: JSONObject,
        _ each: @escaping (Result<Value, ClientError>, _ isLast: Bool) -> Void
    ) {
        stream(method, parameters) { result in Self.told(result, each) }
    }

    /// A call whose replies never end: a daemon that ends them in good order is as lost as one that crashes.
    func followForever<Value: ControlMessage>(
        _ method: String, _ parameters: JSONObject, _ each: @escaping (Result<Value, ClientError>) -> Void
    ) {
        let path = path
        follow(method, parameters) { (result: Result<Value, ClientError>, isLast) in
            each(result)
            if isLast, case .success = result { each(.failure(.lost(path: path))) }
        }
    }

    /// Hands one of many replies on.
    static func told<Value: ControlMessage>(
        _ result: Result<VarlinkReply, ClientError>, _ each: (Result<Value, ClientError>, _ isLast: Bool) -> Void
    ) {
        let isLast = if case .success(let reply) = result { !reply.continues } else { true }
        each(decoded(result, Value.init(json:)), isLast)
    }

    /// A reply as its value.
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
