import HandoffControl
import HandoffJSON
package import HandoffModel

// Account files are transferred as raw bytes, so that no message ever contains a key.
extension ControlClient {
    /// The maximum number of bytes of an account file, and of the reply to one. Far more than a
    /// roster needs.
    private static let maxFile = 16 * 1_048_576

    /// Calls `ExportAccount`, which replies with the account file.
    /// - Parameter passphrase: protects the file; nil for none.
    package func exportAccount(
        passphrase: SecretBuffer? = nil, _ then: @escaping (Result<SecretBuffer, ClientError>) -> Void
    ) {
        upgrade(ControlMethod.exportAccount.rawValue) { result in
            switch result {
            case .failure(let error): then(.failure(error))
            case .success(let stream):
                stream.collect(limit: Self.maxFile) { result in then(result.flatMap(Self.exported)) }
                stream.send(Self.request(passphrase).bytes, end: false)
            }
        }
    }

    /// Calls `ImportAccount`.
    /// - Parameters:
    ///   - file: the complete account file.
    ///   - passphrase: protects the file; nil for none.
    package func importAccount(
        _ file: SecretBuffer, passphrase: SecretBuffer? = nil,
        _ then: @escaping (Result<ImportOutcome, ClientError>) -> Void
    ) {
        let path = path
        upgrade(ControlMethod.importAccount.rawValue) { result in
            switch result {
            case .failure(let error): then(.failure(error))
            case .success(let stream):
                stream.collect(limit: Self.maxFile) { result in
                    then(result.flatMap { Self.outcome($0.bytes, path: path) })
                }
                stream.send(Self.request(passphrase, file: file).bytes, end: true)
            }
        }
    }

    /// Returns the request: the length of the passphrase as 4 bytes, big-endian, the passphrase,
    /// and then the file, if any.
    private static func request(_ passphrase: SecretBuffer?, file: SecretBuffer? = nil) -> SecretBuffer {
        let request = SecretBuffer()
        let secret = passphrase?.bytes ?? []
        let length = UInt32(clamping: secret.count)
        request.reserve(4 + secret.count + (file?.bytes.count ?? 0))
        request.append([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) })
        request.append(secret)
        if let file { request.append(file.bytes) }
        return request
    }

    /// Parses the reply to an import.
    private static func outcome(_ answer: [UInt8], path: String) -> Result<ImportOutcome, ClientError> {
        guard let end = answer.firstIndex(of: 0) else { return .failure(.lost(path: path)) }
        let limits = JSONLimits(bytes: 65_536)
        guard let object = (try? JSON(parsing: answer[..<end], limits: limits))?.object else {
            return .failure(.badAnswer("no JSON object after the account file"))
        }
        // Checked before the account, which is a field of some errors.
        if let refusal = refusal(object) { return .success(.refused(name: refusal.kind, message: refusal.message)) }
        guard let account = object["account"]?.string.flatMap({ AccountID(hex: $0) }) else {
            return .failure(.badAnswer("neither an account nor an error"))
        }
        if object["joined"] == .bool(true) { return .success(.joined(account: account)) }
        return .success(.waiting(account: account, missing: object["missing"]?.string ?? "no member has admitted it"))
    }

    /// Returns the error that the stream contains; nil for any other reply.
    private static func refusal(_ object: JSONObject) -> ServiceRefusal? {
        object["error"]?.string.map { ServiceRefusal(name: $0, parameters: object) }
    }

    /// Returns the account file, unless the reply is an error.
    private static func exported(_ answer: SecretBuffer) -> Result<SecretBuffer, ClientError> {
        guard answer.bytes.first == UInt8(ascii: "{"), let end = answer.bytes.firstIndex(of: 0),
            let object = (try? JSON(parsing: answer.bytes[..<end], limits: JSONLimits(bytes: 65_536)))?.object,
            let refusal = refusal(object)
        else { return .success(answer) }
        return .failure(.refused(refusal))
    }
}

/// The result of sending an account file to the daemon.
package enum ImportOutcome: Equatable, Sendable {
    /// A member has admitted the device to this account.
    case joined(account: AccountID)
    /// The file is stored, but no member has admitted the device yet. Contains the missing step,
    /// for users.
    case waiting(account: AccountID, missing: String)
    /// The daemon rejected the file. Contains the error's name and the reason.
    case refused(name: String, message: String)
}
