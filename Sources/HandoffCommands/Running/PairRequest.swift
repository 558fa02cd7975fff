/// What the user asked `pair` to do.
struct PairRequest {
    /// Let the first device in that knows the code.
    let automatic: Bool
    /// Show the link as a QR code where that is possible.
    let showsQRCode: Bool
    /// When the window is closed, if before its own end.
    let timeout: Duration?
}
