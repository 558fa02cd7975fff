import HandoffModel

/// Advice to the developer of an app about an activity that it has published or changed. Plain
/// values.
struct ActivityAdvice {
    /// The maximum payload in bytes that other devices can continue.
    let payloadLimit: Int

    /// Returns the advice as a text; nil if there is none.
    ///
    /// - Parameters:
    /// - bytes: the size of the payload.
    /// - isSaved: whether the app has saved the activity. Before that it may still add required
    ///   keys.
    /// - notKept: why other devices do not keep an item that was sent; nil if they do.
    func words(bytes: Int, _ content: ActivityContent, isSaved: Bool, notKept: String? = nil) -> String? {
        let missing = isSaved ? content.missingRequiredKeys : []
        let incomplete = missing.isEmpty ? nil : "no device can continue it: \(HandoffFailure.lacks(missing))"
        let advice = [incomplete, ofSize(bytes), notKept.map { "it is not kept: \($0)" }].compactMap(\.self)
        return advice.isEmpty ? nil : advice.joined(separator: "; ")
    }

    private func ofSize(_ bytes: Int) -> String? {
        if bytes > payloadLimit {
            return "the payload has \(bytes) bytes; above \(payloadLimit) no other device can continue it (error 4611)"
        }
        if bytes > Limits.payloadAdvice {
            return "the payload has \(bytes) bytes; keep it below \(Limits.payloadAdvice), and use a stream for more"
        }
        return nil
    }
}
