import Foundation
import HandoffModel

extension NSUserActivity {
    /// What can be wrong with a typed payload.
    public enum TypedPayloadError: Error {
        /// There is none, or it is of another type.
        case invalidContent
    }

    /// The key of `userInfo` under which a typed payload travels, as the bytes of its JSON.
    public static let typedPayloadKey = "dev.handoff.typedPayload"

    /// Stores a value in `userInfo`, encoded as JSON under `typedPayloadKey`; other members stay.
    /// - Throws: what encoding it throws.
    public func setTypedPayload<Payload: Encodable>(_ payload: Payload) throws {
        setUserInfo(.data(Array(try JSONEncoder().encode(payload))), for: Self.typedPayloadKey)
    }

    /// The value that `setTypedPayload` has stored, on this or another device.
    /// - Throws: `TypedPayloadError.invalidContent` when there is none, or it is of another type.
    public func typedPayload<Payload: Decodable>(_ type: Payload.Type) throws -> Payload {
        guard case .data(let bytes)? = snapshot.userInfo[.string(Self.typedPayloadKey)] else {
            throw TypedPayloadError.invalidContent
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw TypedPayloadError.invalidContent
        }
    }
}
