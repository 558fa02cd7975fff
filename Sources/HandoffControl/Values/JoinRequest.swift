package import HandoffJSON

/// The parameters of `Join`: what was shown by the inviting device, and where that is.
package struct JoinRequest: Sendable, Equatable {
    /// The digits.
    package var code: String?
    /// The link, which also tells where the inviting device is.
    package var link: String?
    /// Where the inviting device listens, as host:port; without it and without a link it is looked for.
    package var address: String?

    /// A request with exactly one of code and link.
    package init(code: String? = nil, link: String? = nil, address: String? = nil) {
        self.code = code
        self.link = link
        self.address = address
    }

    /// Reads the parameters; throws `invalidParameter`, also unless there is one of code and link.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        self.init(
            code: try fields.optionalText("code"), link: try fields.optionalText("link"),
            address: try fields.optionalText("address"))
        if (code == nil) == (link == nil) { throw fields.invalid(code == nil ? "code" : "link") }
    }

    /// The parameters on the socket; what is absent is left out.
    package var json: JSONObject {
        var json: JSONObject = [:]
        json["code"] = code.map(JSON.string)
        json["link"] = link.map(JSON.string)
        json["address"] = address.map(JSON.string)
        return json
    }
}
