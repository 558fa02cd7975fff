/// What the user asked `device remove` to do.
struct RemovalRequest {
    /// The device, as the user wrote it.
    let device: String
    /// Those that go with it, as the user wrote them.
    let dropped: [String]
    /// Whether the user has confirmed already.
    let isConfirmed: Bool
    /// How long to follow who hears of it; zero for not at all.
    let patience: Duration
}
