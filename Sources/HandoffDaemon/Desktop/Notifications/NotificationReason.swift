import HandoffHandlers

/// Translates the reasons of failures that notifications show. Other parts of the daemon give
/// reasons in English, also for logs and commands. A reason that is not listed stays in English.
enum NotificationReason {
    /// The listed reasons are the text before the translation, with a capital letter.
    private static let known: [Phrase.Text] = [
        .message("It has changed, and would now open in another app than the notification named"),
        .message("The app that received it has ended"),
        .message("This device was removed from its account"),
        .message("Unknown reason"),
    ]

    /// - Parameter reason: A sentence fragment. The result starts with a capital letter, because it is
    ///   shown alone.
    static func phrase(_ reason: String) -> Phrase {
        let sentence = NotificationText.sentence(reason)
        return .alone(known.first { $0.text == sentence } ?? .verbatim(sentence))
    }
}
