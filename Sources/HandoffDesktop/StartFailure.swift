/// Why an app was not started, or a page not opened: a fragment for people.
package struct StartFailure: Error, Sendable, Equatable {
    /// What is wrong, and what helps.
    package let message: String

    package init(message: String) {
        self.message = message
    }
}
