package import HandoffJSON
package import HandoffModel

extension HandoffFailure {
    /// Reads `Failure`, or the fields of `ContinuationFailed`; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            code: try fields.integer("code"), reason: try fields.text("reason"), message: try fields.text("message"))
    }

    /// The object on the socket: `Failure`, and the fields of `ContinuationFailed`.
    package var json: JSONObject {
        ["code": .integer(Int64(code)), "reason": .string(reason), "message": .string(message)]
    }
}
