import HandoffModel
import HandoffProtocol
import Testing

@testable import HandoffDaemon

@Suite struct ConfigurationLoaderTests {
    func loader(
        _ files: [String: String], file: String? = nil, options: [ConfigurationEntry] = [],
        environment: [String: String] = ["HOME": "/home/u"]
    ) -> ConfigurationLoader {
        ConfigurationLoader(file: file, options: options, environment: environment) { path in
            files[path].map { Array($0.utf8) }
        }
    }

    func failure(_ loader: ConfigurationLoader) -> String? {
        do {
            _ = try loader.load()
            return nil
        } catch {
            return error.description
        }
    }

    @Test
    func `without any settings the defaults apply`() throws {
        var expected = Configuration()
        expected.grease = .rarely
        #expect(try loader([:]).load() == expected)
        #expect(try loader([:], environment: ["HANDOFF_GREASE": "always"]).load().grease == .always)
    }

    @Test
    func `command line, environment, user file and system file have this precedence`() throws {
        var files: [String: String] = [:]
        var environment = ["HOME": "/home/u"]
        #expect(try loader(files, environment: environment).load().name == nil)
        files["/etc/handoff/handoffd.conf"] = "name = system\ntitles = no"
        #expect(try loader(files, environment: environment).load().name == "system")
        files["/home/u/.config/handoff/handoffd.conf"] = "name = user"
        #expect(try loader(files, environment: environment).load().name == "user")
        environment["HANDOFFD_NAME"] = "variable"
        #expect(try loader(files, environment: environment).load().name == "variable")
        let option = ConfigurationEntry(
            setting: try #require(Setting.named("name")), value: "option", origin: .option("--name"))
        let all = try loader(files, options: [option], environment: environment).load()
        #expect(all.name == "option")
        #expect(all.titles == false)
    }

    @Test
    func `an empty value restores the default, not a value of lower precedence`() throws {
        let files = ["/etc/handoff/handoffd.conf": "name = system", "/home/u/.config/handoff/handoffd.conf": "name ="]
        #expect(try loader(files).load().name == nil)
    }

    @Test
    func `a list replaces the one of lower precedence`() throws {
        let files = [
            "/etc/handoff/handoffd.conf": "peer = a:1\npeer = b:2\ninterface = eth0",
            "/home/u/.config/handoff/handoffd.conf": "peer = c:3\npeer = d:4",
        ]
        let configuration = try loader(files).load()
        #expect(configuration.peers.map(\.text) == ["c:3", "d:4"])
        #expect(configuration.interfaces == ["eth0"])
        let environment = ["HOME": "/home/u", "HANDOFFD_PEER": "e:5,f:6", "HANDOFFD_INTERFACE": ""]
        let other = try loader(files, environment: environment).load()
        #expect(other.peers.map(\.text) == ["e:5", "f:6"])
        #expect(other.interfaces == [])
    }

    @Test(arguments: [
        (["HOME": "/home/u"], ["/etc/handoff/handoffd.conf", "/home/u/.config/handoff/handoffd.conf"]),
        (
            ["HOME": "/home/u", "XDG_CONFIG_HOME": "/c"],
            ["/etc/handoff/handoffd.conf", "/c/handoff/handoffd.conf"]
        ),
        (
            ["HOME": "/home/u", "XDG_CONFIG_HOME": "rel"],
            ["/etc/handoff/handoffd.conf", "/home/u/.config/handoff/handoffd.conf"]
        ),
        (["HOME": "x"], ["/etc/handoff/handoffd.conf"]), ([:], ["/etc/handoff/handoffd.conf"]),
    ])
    func `the path of the user's file follows XDG`(_ environment: [String: String], _ paths: [String]) {
        #expect(loader([:], environment: environment).paths == paths)
    }

    @Test
    func `a named file must exist, and is the only one read`() throws {
        let files = ["/etc/handoff/handoffd.conf": "rubbish", "/my.conf": "name = mine"]
        #expect(try loader(files, file: "/my.conf").load().name == "mine")
        #expect(failure(loader(files, file: "/none.conf")) == "/none.conf: cannot read the file: no such file")
    }

    @Test
    func `an error names the source of the value and the allowed values`() {
        let file = ["/etc/handoff/handoffd.conf": "\nport = http"]
        #expect(
            failure(loader(file)) == "/etc/handoff/handoffd.conf:2: 'http' is not valid for port: expected 'default', "
                + "0 for any free port, or a number from 1 to 65535")
        #expect(
            failure(loader(["/etc/handoff/handoffd.conf": "titles = yes # of course"]))?
                .hasSuffix("(a comment must be on its own line)") == true)
        #expect(
            failure(loader([:], environment: ["HANDOFFD_TITLES": "1"]))
                == "environment variable HANDOFFD_TITLES: '1' is not valid for titles: expected 'yes' or 'no'")
        #expect(
            failure(loader([:], environment: ["HANDOFFD_LOGLEVEL": "info"]))?
                .hasPrefix(
                    "environment variable HANDOFFD_LOGLEVEL: unknown setting, did you mean 'HANDOFFD_LOG_LEVEL'?")
                == true)
    }
}
