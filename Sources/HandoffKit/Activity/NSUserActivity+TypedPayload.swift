import HandoffModel

extension NSUserActivity {
    /// An error of a typed payload.
    public enum TypedPayloadError: Error {
        /// `userInfo` is empty, or does not decode to the type.
        case invalidContent
        /// The value does not encode to a dictionary (a number or an array does not), or encodes to
        /// one that cannot be handed off.
        case encodingError
    }

    /// Writes a value into `userInfo`, with its members under their coding keys. Another app finds
    /// them there, whether it reads a typed payload or single keys, and `requiredUserInfoKeys` can
    /// name them. `Data`, `Date`, `URL` and `UUID` keep their types.
    ///
    /// Members with other keys stay. The members of this activity's former payload are removed.
    /// Does not set `needsSave`.
    /// - Throws: `TypedPayloadError.encodingError`, or any error that the value's `encode(to:)`
    ///   throws.
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

    /// Reads a value from `userInfo`. The value was written by `setTypedPayload` on this or another
    /// device, or by an app with single keys.
    /// - Throws: `TypedPayloadError.invalidContent` if `userInfo` is empty or does not decode to
    ///   the type.
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
