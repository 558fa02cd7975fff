/// Another event came than the one that had to come.
struct UnexpectedEvent: Error, CustomStringConvertible {
    let description: String

    init(_ event: Any? = nil) {
        description = event.map { "got \($0)" } ?? "got another event"
    }
}
