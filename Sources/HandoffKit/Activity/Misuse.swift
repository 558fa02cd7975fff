/// Ends the process with a clear message, in release builds too, because the app has made an
/// invalid call. In these places Apple's class raises an exception that apps do not catch.
func misuse(_ message: String) -> Never {
    fatalError("HandoffKit: \(message)")
}
