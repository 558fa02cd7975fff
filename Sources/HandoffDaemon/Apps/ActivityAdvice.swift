import HandoffModel

/// What a developer should know of an activity that his app has published or changed. Plain values.
struct ActivityAdvice {
    /// Bytes of payload that another device may continue.
    let payloadLimit: Int

    /// What is to be said; nil when all is well.
    ///
    /// - Parameters:
    ///   - bytes: the size of the payload.
    ///   - isSaved: whether the app has had its say: before that it may still add what is required.
    func words(bytes: Int, _ content: ActivityContent, isSaved: Bool) -> String? {
        let missing = isSaved ? content.missingRequiredKeys : []
        let incomplete = missing.isEmpty ? nil : "no device can continue it: \(HandoffFailure.lacks(missing))"
        let advice = [incomplete, ofSize(bytes)].compactMap(\.self)
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
