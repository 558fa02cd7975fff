import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

/// The values of `OpenStream`, `PassFile` and `AwaitStream`.
struct StreamValueTests {
    private let stream = StreamID(checked: Array(repeating: 0x4E, count: 16))
    private let continuation = ContinuationID(checked: Array(repeating: 0x2C, count: 16))

    private let device = DeviceID(checked: Array(repeating: 1, count: 32))
    private let activity = ActivityID(checked: Array(repeating: 7, count: 16))

    /// Encodes and parses the object, as on a socket.
    private func crossed(_ object: JSONObject) throws -> JSONObject {
        try #require(JSON(parsing: object.encoded(), limits: JSONLimits(bytes: 1 << 20)).object)
    }

    @Test func `encoding preserves requests and replies`() throws {
        let resource = try #require(StreamResource("document/3"))
        for request in [.continuation(continuation), .continuation(continuation, resource: resource), .stream(stream)]
            as [OpenStreamRequest]
        {
            #expect(try OpenStreamRequest(json: crossed(request.json)) == request)
        }
        for request in [
            PassFileRequest(stream: stream, direction: .send, position: 0, length: nil),
            PassFileRequest(stream: stream, direction: .receive, position: 7, length: .max - 7),
        ] {
            #expect(try PassFileRequest(json: crossed(request.json)) == request)
        }
        let moved = PassFileReply(moved: 5, done: false)
        #expect(try PassFileReply(json: crossed(moved.json)) == moved)
        for outcome in StreamOutcome.allCases {
            let reply = AwaitStreamReply(outcome: outcome, message: "m", sent: 1, received: 2)
            #expect(try AwaitStreamReply(json: crossed(reply.json)) == reply)
            let error = StreamEndedError(moved: 3, outcome: outcome, message: "m")
            #expect(try StreamEndedError(json: crossed(error.json)) == error)
        }
    }

    @Test(
        arguments: [
            ([:], "continuation"), (["stream": "4e"], "stream"), (["continuation": 1], "continuation"),
            (["stream": nil, "continuation": nil], "continuation"),
            (["continuation": .string(String(repeating: "2c", count: 16)), "resource": ""], "resource"),
            (["continuation": .string(String(repeating: "2c", count: 16)), "resource": "a b"], "resource"),
            (["stream": .string(String(repeating: "2c", count: 16)), "resource": "a"], "resource"),
        ] as [(JSONObject, String)])
    func `a stream is opened with one id`(json: JSONObject, path: String) {
        #expect(throws: VarlinkError.invalidParameter(path)) { try OpenStreamRequest(json: json) }
    }

    @Test func `a stream is not opened with both ids`() {
        let both: JSONObject = ["stream": .string(stream.hex), "continuation": .string(continuation.hex)]
        #expect(throws: VarlinkError.invalidParameter("stream")) { try OpenStreamRequest(json: both) }
    }

    @Test(
        arguments: [
            ("stream", "xyz"), ("direction", "both"), ("position", -1), ("position", 0.5), ("position", nil),
            ("length", -1), ("length", .integer(.max)), ("length", "1"),
        ] as [(String, JSON)])
    func `a passed file with a number out of range is rejected`(field: String, value: JSON) {
        var json = PassFileRequest(stream: stream, direction: .send, position: 1, length: 1).json
        json[field] = value
        #expect(throws: VarlinkError.invalidParameter(field)) { try PassFileRequest(json: json) }
    }

    @Test(arguments: [.saved("/home/a/report.pdf"), .failed("no space left")] as [ReceivedEnd])
    func `a report of a received file has one result`(end: ReceivedEnd) throws {
        let report = ReportReceivedRequest(
            session: "s1", device: device, activity: activity, end)
        #expect(try ReportReceivedRequest(json: crossed(report.json)) == report)
        #expect(report.end == end)
        var both = report.json
        both["path"] = "/a"
        both["failure"] = "why"
        var none = report.json
        none["path"] = nil
        none["failure"] = nil
        for json in [both, none] {
            #expect(throws: VarlinkError.invalidParameter("path")) { try ReportReceivedRequest(json: json) }
        }
    }

    @Test func `a report of progress has no negative numbers`() throws {
        var report = ReportProgressRequest(session: "s1", device: device, activity: activity, received: 0, size: nil)
        #expect(try ReportProgressRequest(json: crossed(report.json)) == report)
        report.size = -1
        #expect(throws: VarlinkError.invalidParameter("size")) { try ReportProgressRequest(json: report.json) }
        report.received = -1
        #expect(throws: VarlinkError.invalidParameter("received")) { try ReportProgressRequest(json: report.json) }
    }

    @Test(arguments: ["report.pdf", "", "/a\0b", "/" + String(repeating: "x", count: 4096)])
    func `an invalid path is rejected`(path: String) {
        let report = ReportReceivedRequest(
            session: "s1", device: device, activity: activity, .saved(path))
        #expect(throws: VarlinkError.invalidParameter("path")) { try ReportReceivedRequest(json: report.json) }
    }

    @Test func `the interface file has the outcomes and the directions of the code`() throws {
        let text = try #require(HandoffInterfaces.app).description
        let outcomes = StreamOutcome.allCases.filter { $0 != .other }.map(\.rawValue).joined(separator: ", ")
        #expect(text.contains("type Outcome (\(outcomes))"))
        let directions = PassFileRequest.Direction.allCases.map(\.rawValue).joined(separator: ", ")
        #expect(text.contains("direction: (\(directions))"))
    }
}
