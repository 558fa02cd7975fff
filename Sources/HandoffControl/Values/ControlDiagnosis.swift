package import HandoffJSON
package import HandoffModel

/// The results of `Diagnose`: what only the daemon knows of its own process, and of the other members.
package struct ControlDiagnosis: Sendable, Equatable {
    /// What is known of another member of the account.
    package struct Member: Sendable, Equatable {
        /// The device.
        package var device: DeviceID
        /// Its name.
        package var name: String
        /// Whether it can be reached now.
        package var online: Bool
        /// How many seconds ago it was last heard; nil: not since the start of the daemon.
        package var heard: Double?
        /// Why the last connection to it failed; nil when it did not, or another one has succeeded since.
        package var trouble: String?
        /// How many seconds its clock was at least ahead of ours when it started; nil when it was not.
        package var clockAhead: Double?

        /// A member with these properties.
        package init(
            device: DeviceID, name: String, online: Bool, heard: Double? = nil, trouble: String? = nil,
            clockAhead: Double? = nil
        ) {
            self.device = device
            self.name = name
            self.online = online
            self.heard = heard
            self.trouble = trouble
            self.clockAhead = clockAhead
        }

        /// Reads a member; throws `invalidParameter`.
        init(_ fields: Fields) throws(VarlinkError) {
            self.init(
                device: try fields.id("device"), name: try fields.text("name"), online: try fields.flag("online"),
                heard: try fields.optionalNumber("heard"), trouble: try fields.optionalText("trouble"),
                clockAhead: try fields.optionalNumber("clockAhead"))
        }

        /// The member on the socket.
        var json: JSONObject {
            [
                "device": .string(device.hex), "name": .string(name), "online": .bool(online),
                "heard": heard.map { .real($0) } ?? .null, "trouble": .nullable(trouble),
                "clockAhead": clockAhead.map { .real($0) } ?? .null,
            ]
        }
    }

    /// The state folder.
    package var stateFolder: String
    /// Its permission bits; nil when they cannot be read any more.
    package var stateMode: Int?
    /// How many files the daemon may have open.
    package var openFiles: Int?
    /// How many bytes it may keep out of swap.
    package var lockedMemory: Int?
    /// Whether the daemon runs in a user namespace of its own, as its unit asks for.
    package var isIsolated: Bool
    /// Files of apps that cannot be used, each with what is wrong with it.
    package var appProblems: [String]
    /// The other members.
    package var members: [Member]

    /// Results with these properties.
    package init(
        stateFolder: String, stateMode: Int?, openFiles: Int?, lockedMemory: Int?, isIsolated: Bool,
        appProblems: [String] = [], members: [Member]
    ) {
        self.stateFolder = stateFolder
        self.stateMode = stateMode
        self.openFiles = openFiles
        self.lockedMemory = lockedMemory
        self.isIsolated = isIsolated
        self.appProblems = appProblems
        self.members = members
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        var members: [Member] = []
        for member in try fields.list("members") { members.append(try Member(member)) }
        func number(_ key: String) throws(VarlinkError) -> Int? {
            try fields.optionalInteger(key).map { Int(clamping: $0) }
        }
        self.init(
            stateFolder: try fields.text("stateFolder"), stateMode: try number("stateMode"),
            openFiles: try number("openFiles"), lockedMemory: try number("lockedMemory"),
            isIsolated: try fields.flag("isolated"), appProblems: try fields.texts("appProblems"), members: members)
    }

    /// The results on the socket.
    package var json: JSONObject {
        func nullable(_ number: Int?) -> JSON { number.map { .integer(Int64($0)) } ?? .null }
        return [
            "stateFolder": .string(stateFolder), "stateMode": nullable(stateMode), "openFiles": nullable(openFiles),
            "lockedMemory": nullable(lockedMemory), "isolated": .bool(isIsolated),
            "appProblems": .array(appProblems.map { .string($0) }),
            "members": .array(members.map { .object($0.json) }),
        ]
    }
}
