/// The keys of a payload, as they cross the network.
enum PayloadKey {
    static let type = "type"
    static let title = "title"
    static let userInfo = "userInfo"
    static let webpageURL = "webpageURL"
    static let team = "team"
    static let requiredUserInfoKeys = "requiredUserInfoKeys"
    static let streams = "streams"
    static let app = "app"
    static let appVersion = "appVersion"
}
