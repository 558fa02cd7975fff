import HandoffControl
import HandoffJSON

// What the typed methods are made of.
extension ControlClient {
    /// A call with one reply that is decoded.
    func request<Value>(
        _ method: String, _ parameters: JSONObject = [:],
        decode: @escaping (JSONObject) throws(VarlinkError) -> Value,
        _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        call(method, parameters) { result in then(Self.decoded(result, decode)) }
    }

    /// A call with many replies that are decoded; the handler is told which one is the last. A failure always is.
    func follow<Value>(
        _ method: String, _ parameters: JSONObject = [:],
        decode: @escaping (JSONObject) throws(VarlinkError) -> Value,
        _ each: @escaping (Result<Value, ClientError>, _ isLast: Bool) -> Void
    ) {
        stream(method, parameters) { result in
            let isLast = if case .success(let reply) = result { !reply.continues } else { true }
            each(Self.decoded(result, decode), isLast)
        }
    }

    /// A call whose replies never end: a daemon that ends them in good order is as lost as one that crashes.
    func followForever<Value>(
        _ method: String, _ parameters: JSONObject = [:],
        decode: @escaping (JSONObject) throws(VarlinkError) -> Value,
        _ each: @escaping (Result<Value, ClientError>) -> Void
    ) {
        let path = path
        follow(method, parameters, decode: decode) { result, isLast in
            each(result)
            if isLast, case .success = result { each(.failure(.lost(path: path))) }
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
