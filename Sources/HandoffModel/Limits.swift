/// The sizes that bound an activity, each in one place.
package enum Limits {
    /// Bytes of encoded payload above which a developer is warned: Apple's advice for a quick handoff.
    package static let payloadAdvice = 3072
    /// Bytes of encoded payload above which an origin refuses, unless configured otherwise.
    package static let payloadDefault = 65_536
    /// The highest value that the payload limit can be configured to, in bytes: a message of the control socket
    /// (1 MiB) must still hold it with its envelope.
    package static let payloadMaximum = 983_040
    /// Arrays, sets and dictionaries that may enclose a value of `userInfo`, the outermost dictionary included.
    package static let userInfoDepth = 24
    /// Levels of JSON that a tagged `userInfo` may have: a set takes two, a dictionary with keys other than strings
    /// three. With what stands around it in a message it stays within the 32 that every parser here allows.
    package static let userInfoJSONDepth = 28
    /// Members of one array, set or dictionary, as `JSONLimits` has them.
    package static let userInfoMembers = 4096
    /// Values of a tagged `userInfo` in all, counted by its brackets and commas. With what stands around it in a message it stays
    /// within the 65,536 that every parser here allows.
    package static let userInfoValues = 65_000
    /// Bytes of a title: more than any list can show.
    package static let title = 1024
    /// Bytes of a team identifier; an advert carries it behind a length byte.
    package static let team = 255
    /// Bytes of a web page's URL, as browsers and servers still accept it.
    package static let webpageURL = 2048
    /// Bytes of what says which content an activity is about.
    package static let targetContentIdentifier = 1024
    /// Keys that an activity may name as required.
    package static let requiredKeys = 256
    /// Bytes of one required key.
    package static let requiredKey = 1024
    /// Bytes of an app's identifier or version.
    package static let appName = 255
}
