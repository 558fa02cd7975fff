/// Ends the process with a clear message, in release builds too: the app has called something as nobody may. Apple's class
/// raises an exception that nobody catches in these places.
func misuse(_ message: String) -> Never {
    fatalError("HandoffKit: \(message)")
}
