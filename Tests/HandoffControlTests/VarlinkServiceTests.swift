import HandoffControl
import HandoffJSON
import Testing

struct VarlinkServiceTests {
    private let control = VarlinkService(version: "1.2.3", interfaces: HandoffInterfaces.onControlSocket)
    private let app = VarlinkService(version: "1.2.3", interfaces: HandoffInterfaces.onAppSocket)

    private func call(_ method: String, _ parameters: JSONObject = [:]) -> VarlinkCall {
        VarlinkCall(method: method, parameters: parameters)
    }

    @Test func `the information contains version and interfaces`() throws {
        let reply = try #require(control.reply(to: call("org.varlink.service.GetInfo")))
        #expect(reply.error == nil)
        #expect(reply.parameters.keys == ["vendor", "product", "version", "url", "interfaces"])
        #expect(reply.parameters["version"] == "1.2.3")
        #expect(reply.parameters["interfaces"] == ["dev.handoff1", "dev.handoff1.Control", "org.varlink.service"])
        let ofApp = try #require(app.reply(to: call("org.varlink.service.GetInfo")))
        #expect(ofApp.parameters["interfaces"] == ["dev.handoff1", "org.varlink.service"])
    }

    @Test(arguments: ["dev.handoff1", "dev.handoff1.Control", "org.varlink.service"])
    func `each interface is described`(name: String) throws {
        let reply = try #require(
            control.reply(to: call("org.varlink.service.GetInterfaceDescription", ["interface": .string(name)])))
        let text = try #require(reply.parameters["description"]?.string)
        #expect(text.split(separator: "\n").contains("interface \(name)"))
    }

    @Test(
        arguments: [
            (["interface": "dev.other"], VarlinkService.interfaceNotFound, ["interface": "dev.other"]),
            (
                ["interface": "dev.handoff1.Control"], VarlinkService.interfaceNotFound,
                ["interface": "dev.handoff1.Control"]
            ),
            ([:], VarlinkService.invalidParameter, ["parameter": "interface"]),
            (["interface": 1], VarlinkService.invalidParameter, ["parameter": "interface"]),
        ] as [(JSONObject, String, JSONObject)])
    func `a missing or invalid interface name is an error`(parameters: JSONObject, error: String, fields: JSONObject) {
        let reply = app.reply(to: call("org.varlink.service.GetInterfaceDescription", parameters))
        #expect(reply == VarlinkReply(error: error, parameters: fields))
    }

    @Test(
        arguments: [
            ("dev.other.Method", VarlinkService.interfaceNotFound, ["interface": "dev.other"]),
            ("Method", VarlinkService.interfaceNotFound, ["interface": ""]),
            ("", VarlinkService.interfaceNotFound, ["interface": ""]),
            ("dev.handoff1.Nothing", VarlinkService.methodNotFound, ["method": "dev.handoff1.Nothing"]),
            ("dev.handoff1.", VarlinkService.methodNotFound, ["method": "dev.handoff1."]),
            ("dev.handoff1.attach", VarlinkService.methodNotFound, ["method": "dev.handoff1.attach"]),
            ("org.varlink.service.Other", VarlinkService.methodNotFound, ["method": "org.varlink.service.Other"]),
        ] as [(String, String, JSONObject)])
    func `an unknown interface or method is an error`(method: String, error: String, fields: JSONObject) {
        #expect(control.reply(to: call(method)) == VarlinkReply(error: error, parameters: fields))
    }

    @Test(arguments: ControlMethod.allCases)
    func `the app socket does not know the control interface`(method: ControlMethod) {
        let reply = app.reply(to: call(method.rawValue))
        #expect(
            reply
                == VarlinkReply(
                    error: VarlinkService.interfaceNotFound, parameters: ["interface": "dev.handoff1.Control"]))
        #expect(control.reply(to: call(method.rawValue)) == nil)
    }

    @Test(arguments: AppMethod.allCases)
    func `both sockets know the app interface`(method: AppMethod) {
        #expect(app.reply(to: call(method.rawValue)) == nil)
        #expect(control.reply(to: call(method.rawValue)) == nil)
    }

    @Test func `the names in the code are those of the interface files`() throws {
        let ofApp = try #require(HandoffInterfaces.app)
        let ofControl = try #require(HandoffInterfaces.control)
        #expect(Set(AppMethod.allCases.map(\.rawValue)) == Set(ofApp.methods.map { "dev.handoff1.\($0)" }))
        #expect(
            Set(ControlMethod.allCases.map(\.rawValue)) == Set(ofControl.methods.map { "dev.handoff1.Control.\($0)" }))
        #expect(Set(AppErrorName.allCases.map(\.rawValue)) == errors(of: ofApp))
        #expect(Set(ControlErrorName.allCases.map(\.rawValue)) == errors(of: ofControl))
    }

    private func errors(of interface: VarlinkInterface) -> Set<String> {
        Set(
            interface.description.split(separator: "\n").filter { $0.hasPrefix("error ") }.map {
                "\(interface.name).\($0.dropFirst(6).prefix { $0 != "(" })"
            })
    }

    @Test(arguments: ["", "method A() -> ()", "interface a.b\ninterface a.c", "# interface a.b"])
    func `a definition without exactly one name is invalid`(text: String) {
        #expect(VarlinkInterface(definition: text) == nil)
    }
}

struct SocketPathTests {
    @Test(arguments: [
        ("/run/user/7", "/run/user/7/handoff/control.socket"),
        ("/run/user/7//", "/run/user/7/handoff/control.socket"),
        (nil, "/run/user/1000/handoff/control.socket"),
        ("", "/run/user/1000/handoff/control.socket"),
        ("relative", "/run/user/1000/handoff/control.socket"),
    ])
    func `the control socket is in the runtime folder`(folder: String?, path: String) {
        #expect(SocketPath.control(runtimeDirectory: folder, userID: 1000) == path)
    }

    @Test func `the app socket is in its own folder`() {
        #expect(SocketPath.app(runtimeDirectory: "/r", userID: 1000) == "/r/handoff-app/app.socket")
        #expect(SocketPath.app(runtimeDirectory: nil, userID: 0) == "/run/user/0/handoff-app/app.socket")
    }
}
