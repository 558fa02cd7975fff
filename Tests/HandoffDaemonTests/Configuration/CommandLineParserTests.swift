import HandoffDaemon
import LoopIO
import Testing

@Suite struct CommandLineParserTests {
    func failure(_ words: [String]) -> String? {
        do {
            _ = try CommandLineParser.parse(words)
            return nil
        } catch {
            return error.description
        }
    }

    @Test
    func `every option is accepted in both spellings`() throws {
        let words = [
            "--config", "/c", "--state-dir=/s", "--socket", "/k", "--app-socket", "/a", "--address", "127.0.0.1",
            "--port=0", "--interface", "lo", "--interface=eth0", "--discovery", "embedded", "--name", "--x=y",
            "--log-level", "debug",
        ]
        guard case .run(let options) = try CommandLineParser.parse(words) else {
            Issue.record("no run")
            return
        }
        #expect(options.configurationFile == "/c")
        #expect(options.stateDirectory == "/s")
        #expect(options.controlSocket == "/k")
        #expect(options.appSocket == "/a")
        let loader = ConfigurationLoader(file: nil, options: options.settings, environment: [:]) { _ in nil }
        let configuration = try loader.load()
        #expect(configuration.port == .any)
        #expect(configuration.interfaces == ["lo", "eth0"])
        #expect(configuration.discovery == .embedded)
        #expect(configuration.name == "--x=y")
        #expect(configuration.logLevel == .debug)
        #expect(configuration.address != nil)
    }

    @Test
    func `a check accepts the options of a start`() throws {
        var options = CommandLineOptions()
        options.configurationFile = "/c"
        #expect(try CommandLineParser.parse(["--check-config", "--config=/c"]) == .check(options))
        #expect(throws: OptionError.self) { try CommandLineParser.parse(["--check-config", "--check-config"]) }
        #expect(throws: OptionError.self) { try CommandLineParser.parse(["--check-config=/c"]) }
    }

    @Test
    func `a value may start with a combining mark or be invalid UTF-8`() throws {
        let latin = "/" + String(systemBytes: [0xE9])
        guard case .run(let options) = try CommandLineParser.parse(["--config=\u{301}", "--state-dir", latin]) else {
            Issue.record("no run")
            return
        }
        #expect(options.configurationFile == "\u{301}")
        #expect(options.stateDirectory == latin)
    }

    @Test
    func `without arguments the daemon runs as configured`() throws {
        #expect(try CommandLineParser.parse([]) == .run(CommandLineOptions()))
    }

    @Test
    func `help and version take precedence over everything else`() throws {
        #expect(try CommandLineParser.parse(["--rubbish", "--help"]) == .help)
        #expect(try CommandLineParser.parse(["-h"]) == .help)
        #expect(try CommandLineParser.parse(["--port", "--version"]) == .version)
    }

    @Test(arguments: [
        (["start"], "unexpected argument 'start': handoffd accepts only options"),
        (["-"], "unexpected argument '-': handoffd accepts only options"),
        (["--discover", "avahi"], "unknown option '--discover', did you mean '--discovery'?"),
        (["--prot=5"], "unknown option '--prot', did you mean '--port'?"),
        (["-p"], "unknown option '-p'"),
        (["--socket"], "option --socket needs a value: a path"),
        (["--socket="], "option --socket needs a non-empty path"),
        (["--socket", "a", "--socket", "b"], "option --socket was given twice"),
        (["--port", "1", "--port=2"], "option --port was given twice"),
        (["--no-desktop", "--no-desktop"], "option --no-desktop was given twice"),
        (
            ["--name", "--port", "1"],
            "option --name needs a value, but '--port' is an option; to pass it as the value, write --name=--port"
        ),
        (["--", "--port"], "unexpected argument '--port': handoffd accepts only options"),
        (["--help=yes"], "option --help takes no value"),
        (["--port"], "option --port needs a value: 'default', 0 for any free port, or a number from 1 to 65535"),
        (
            ["--port", "x"],
            "option --port: 'x' is not valid for port: expected 'default', 0 for any free port, or a number from 1 to 65535"
        ),
    ])
    func `a usage error names the argument and the allowed values`(_ words: [String], _ message: String) {
        #expect(failure(words) == message + " (see handoffd --help)")
    }

    @Test
    func `the help names every setting that has an option`() {
        for word in [
            "--config", "--state-dir", "--socket", "--app-socket", "--address", "--port", "--interface", "--discovery",
            "--name", "--log-level", "--help", "--version",
        ] {
            #expect(CommandLineHelp.text.contains(word))
        }
        #expect(CommandLineHelp.text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }
}
