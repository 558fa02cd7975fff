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

    /// A call with many replies that are decoded. A stream that the daemon ends in good order has ended like a lost
    /// one for somebody who waits for more, unless the last reply is what was waited for.
    func follow<Value>(
        _ method: String, _ parameters: JSONObject = [:],
        decode: @escaping (JSONObject) throws(VarlinkError) -> Value,
        _ each: @escaping (Result<Value, ClientError>) -> Void
    ) {
        stream(method, parameters) { result in each(Self.decoded(result, decode)) }
    }

    private static func decoded<Value>(
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
