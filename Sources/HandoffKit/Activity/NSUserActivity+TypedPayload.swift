import HandoffModel

extension NSUserActivity {
    /// What can be wrong with a typed payload.
    public enum TypedPayloadError: Error {
        /// There is none, or `userInfo` is not what a value of the type is made of.
        case invalidContent
        /// The value is encoded as no dictionary, as a number or an array is, or as one that cannot be handed off.
        case encodingError
    }

    /// Writes a value into `userInfo`: its members under their coding keys, where another app finds them, whether it reads a typed
    /// payload or single keys, and where `requiredUserInfoKeys` names them. `Data`, `Date`, `URL` and `UUID` stay what they are.
    ///
    /// Members of other keys stay; what the former payload of this activity had is gone. Does not set `needsSave`.
    /// - Throws: `TypedPayloadError.encodingError`; what the value's own `encode(to:)` throws.
    public func setTypedPayload<Payload: Encodable>(_ payload: Payload) throws {
        guard case .dictionary(let pairs)? = try UserInfoEncoder.encode(payload) else {
            throw TypedPayloadError.encodingError
        }
        let members = UserInfoMembers(pairs)
        do throws(ActivityError) {
            try UserInfo.validate(members.tagged)
        } catch {
            throw TypedPayloadError.encodingError
        }
        setTypedPayload(members)
    }

    /// Reads a value from `userInfo`, which `setTypedPayload` has written on this or another device, or an app by hand.
    /// - Throws: `TypedPayloadError.invalidContent` when `userInfo` is empty, or is not what a value of the type is made of.
    public func typedPayload<Payload: Decodable>(_ type: Payload.Type) throws -> Payload {
        let members = snapshot.userInfo
        guard !members.pairs.isEmpty else { throw TypedPayloadError.invalidContent }
        do {
            return try Payload(from: UserInfoDecoder(members.value))
        } catch {
            throw TypedPayloadError.invalidContent
        }
    }
}
