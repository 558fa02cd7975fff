/// An event arrived instead of the expected one.
struct UnexpectedEvent: Error, CustomStringConvertible {
    let description: String

    init(_ event: Any? = nil) {
        description = event.map { "got \($0)" } ?? "got another event"
    }
}
