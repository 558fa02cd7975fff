import HandoffModel

/// What the user asked `handle` to do.
struct HandleRequest: Equatable {
    /// The types that are continued here.
    let types: [ActivityType]
    let team: String?
    /// What `/bin/sh -c` runs for each activity; nil when printing it is all.
    let command: String?
}
