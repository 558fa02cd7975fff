package enum Limits {
    /// The encoded payload size in bytes above which the developer gets a warning: Apple's advice
    /// for a quick handoff.
    package static let payloadAdvice = 3072
    /// The maximum encoded payload size in bytes that an origin sends, unless configured otherwise.
    package static let payloadDefault = 65_536
    /// The maximum configurable payload limit, in bytes. A message on the control socket (1 MiB)
    /// must have room for the payload and its envelope.
    package static let payloadMaximum = 983_040
    /// The maximum number of arrays, sets and dictionaries that enclose a value of `userInfo`,
    /// including the outermost dictionary.
    static let userInfoDepth = 24
    /// The maximum number of JSON levels of a tagged `userInfo`. A set takes two, a dictionary with
    /// non-string keys three. With the enclosing message, this stays within the 32 levels that
    /// every parser here allows.
    static let userInfoJSONDepth = 28
    /// The maximum number of members of one array, set or dictionary, as in `JSONLimits`.
    static let userInfoMembers = 4096
    /// The maximum number of values of a tagged `userInfo`, counted by its brackets and commas.
    /// With the enclosing message, this stays within the 65,536 that every parser here allows.
    static let userInfoValues = 65_000
    /// The maximum length of a title in bytes, more than any list can show.
    package static let title = 1024
    /// The maximum length of a team identifier in bytes. An advert stores the length in one byte.
    package static let team = 255
    /// The maximum length of a web page URL in bytes that browsers and servers still accept.
    static let webpageURL = 2048
    /// The maximum length of a target content identifier, in bytes.
    static let targetContentIdentifier = 1024
    /// The maximum number of required keys of an activity.
    package static let requiredKeys = 256
    /// The maximum length of a required key, in bytes.
    package static let requiredKey = 1024
    /// The maximum length of an app's identifier or version, in bytes.
    package static let appName = 255
    /// The number of digits in a pairing code.
    package static let pairingCodeDigits = 8
    /// The time for which a pairing window is open, and the time limit of an attempt to join.
    package static let pairingWindowLifetime = Duration.seconds(180)
}
