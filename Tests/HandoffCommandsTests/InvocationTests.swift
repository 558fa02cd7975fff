import HandoffCommands
import LoopIO
import Testing

@Suite struct InvocationTests {
    private func command(_ words: String...) throws -> (name: String, arguments: ParsedArguments) {
        guard case .command(let type, let arguments) = try Invocation(words).request else {
            throw NoCommand()
        }
        return (type.specification.name, arguments)
    }

    private struct NoCommand: Error {}

    private func message(_ words: String...) -> String? {
        do throws(UsageError) {
            let invocation = try Invocation(words)
            if case .command(let type, let arguments) = invocation.request { _ = try type.init(validating: arguments) }
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `global options precede or follow the command`() throws {
        for words in [
            ["--json", "--socket", "/s", "status"], ["status", "--json", "--socket=/s"],
            ["--json", "status", "--socket", "/s"],
            ["account", "--json", "show", "--socket", "/s"],
        ] {
            let invocation = try Invocation(words)
            #expect(invocation.json)
            #expect(invocation.socket == "/s")
        }
    }

    @Test func `options and operands can be mixed`() throws {
        let (name, arguments) = try command(
            "publish", "--title", "T", "com.example.a", "--required", "one", "--required=two")
        #expect(name == "publish")
        #expect(arguments.operands == ["com.example.a"])
        #expect(arguments.value("--title") == "T")
        #expect(arguments.all("--required") == ["one", "two"])
    }

    @Test func `after two dashes all words are operands`() throws {
        #expect(try command("handle", "--", "--exec", "-x").arguments.operands == ["--exec", "-x"])
    }

    @Test func `a single dash is an operand`() throws {
        #expect(try command("account", "import", "-").arguments.operands == ["-"])
    }

    @Test func `a value may begin with a dash, be empty or contain an equals sign`() throws {
        #expect(try command("publish", "a", "--title", "- milk").arguments.value("--title") == "- milk")
        #expect(try command("publish", "a", "--title=").arguments.value("--title")?.isEmpty == true)
        #expect(try command("publish", "a", "--title=a=b").arguments.value("--title") == "a=b")
    }

    @Test(arguments: [["--help"], ["-h"]])
    func `help without a command is the overview`(_ words: [String]) throws {
        guard case .help(let topic) = try Invocation(words).request else { throw NoCommand() }
        #expect(topic.isEmpty)
    }

    @Test(arguments: [["publish", "--help"], ["--help", "publish"], ["publish", "-h", "--json"]])
    func `help with a command needs no operands`(_ words: [String]) throws {
        guard case .help(let topic) = try Invocation(words).request else { throw NoCommand() }
        #expect(topic == ["publish"])
    }

    @Test func `version is requested before a command`() throws {
        guard case .version = try Invocation(["--version"]).request else { throw NoCommand() }
        #expect(message("status", "--version") == "unknown option '--version'")
    }

    @Test(arguments: [
        ([], "no command given"),
        (["contine"], "unknown command 'contine'; did you mean 'continue'?"),
        (["xyzzy"], "unknown command 'xyzzy'"),
        (["account"], "'account' needs one of: create, show, leave, rotate, export, import"),
        (["account", "crate"], "unknown command 'account crate'; did you mean 'account create'?"),
        (["peer", "xyzzy"], "unknown command 'peer xyzzy'"),
        (["--bogus", "status"], "unknown option '--bogus'"),
        (
            ["--title", "T", "publish"],
            "option '--title' must follow the command; only --socket and --json can precede it"
        ),
        (["publish", "a", "--titel", "T"], "unknown option '--titel'; did you mean '--title'?"),
        (["publish", "a", "--title"], "option '--title' needs a value: --title TEXT"),
        (
            ["publish", "a", "--title", "--json"],
            "option '--title' needs a value, but '--json' is an option; to pass it as the value, write --title=--json"
        ),
        (["publish", "a", "--title", "x", "--title", "y"], "option '--title' can be given only once"),
        (["list", "--here=yes"], "option '--here' takes no value"),
        (["withdraw"], "'withdraw' needs ID"),
        (["publish", "a", "b"], "'publish' does not take 'b'"),
        (["status", "now"], "'status' does not take 'now'"),
        (["device"], "'device' needs one of: rename, remove, accept"),
        (["device", "delete"], "unknown command 'device delete'"),
        (["device", "rename", "desk"], "'device rename' needs DEVICE NAME"),
        (["--socket=", "status"], "--socket is empty"),
    ])
    func `usage errors are described`(_ words: [String], _ expected: String) {
        #expect(throws: UsageError.self) { try Invocation(words) }
        do throws(UsageError) { _ = try Invocation(words) } catch { #expect(error.message == expected) }
    }

    @Test(arguments: [
        (
            ["publish", "two words"],
            "activity type 'two words' is not 1 to 255 visible ASCII characters, such as com.example.editing"
        ),
        (
            ["publish", "a", "--web-url", "ftp://example.org/"],
            "--web-url 'ftp://example.org/' cannot be offered as a page: it does not start with http:// or https://"
        ),
        (
            ["publish", "https://user@example.org/"],
            "URL 'https://user@example.org/' cannot be offered as a page: it contains a user name or password before the host, "
                + "or a percent sign in the host"
        ),
        (
            ["send", "laptop", "https://example.org/" + String(repeating: "a", count: 2048)],
            "URL 'https://example.org/" + String(repeating: "a", count: 180)
                + "…' cannot be offered as a page: it has more than 2048 bytes"
        ),
        (["publish", "http://"], "URL 'http://' cannot be offered as a page: it has no valid host or port"),
        (
            ["publish", "ftp://example.org/"],
            "URL 'ftp://example.org/' cannot be offered as a page: it does not start with http:// or https://"
        ),
        (
            ["publish", "https://example.org/a b"],
            "URL 'https://example.org/a b' cannot be offered as a page: it contains a space, a backslash or an invisible character"
        ),
        (
            ["publish", "file:///tmp/none"],
            "'file:///tmp/none' is a file URL; use the path of the file instead"
        ),
        (["send", "laptop", ""], "item to send is empty"),
        (["publish", "a", "--team", ""], "--team is empty"),
        (["publish", "a", "--user-info", "[]"], "--user-info: not a JSON object (must begin with {)"),
        (["publish", "a", "--user-info", "@"], "the file name after --user-info @ is empty"),
        (["continue", "xyz"], "id 'xyz' is not an id prefix (hexadecimal digits)"),
        (
            ["continue", "0123456789abcdef0123456789abcdef0"],
            "id '0123456789abcdef0123456789abcdef0' is not an id prefix (hexadecimal digits)"
        ),
        (["continue", "ab", "--latest"], "an ID and --latest cannot be used together"),
        (["continue", "--timeout", "0"], "--timeout '0' is not a number of seconds above 0 and at most 86400"),
        (["continue", "--timeout", "nan"], "--timeout 'nan' is not a number of seconds above 0 and at most 86400"),
        (["continue", "--timeout", "1e9"], "--timeout '1e9' is not a number of seconds above 0 and at most 86400"),
        (["continue", "--timeout", "-5"], "--timeout '-5' is not a number of seconds above 0 and at most 86400"),
        (["continue", "--from", ""], "--from is empty"),
        (["peer", "add", "desk"], "address 'desk' is not in the form HOST:PORT or [ADDRESS]:PORT"),
        (["peer", "add", "desk:0"], "address 'desk:0' is not in the form HOST:PORT or [ADDRESS]:PORT"),
        (["peer", "add", "fe80::1:24863"], "address 'fe80::1:24863' is not in the form HOST:PORT or [ADDRESS]:PORT"),
        (
            ["peer", "add", "[fe80::1]:24863"],
            "address '[fe80::1]:24863' has no interface: a link-local address needs the interface that leads to the device: "
                + "[fe80::1%INTERFACE]:24863, such as [fe80::1%eth0]:24863"
        ),
        (
            ["join", "--peer", "[fe80::1%]:1"],
            "address '[fe80::1%]:1' has no interface: a link-local address needs the interface that leads to the device: "
                + "[fe80::1%INTERFACE]:1, such as [fe80::1%eth0]:1"
        ),
        (["handle", "a", "--exec", ""], "--exec is empty"),
        (["account", "export", ""], "FILE is empty"),
        (["account", "export"], "'account export' needs FILE|-"),
        (["account", "export", "f", "--revoke", "ab"], "--revoke and FILE cannot be used together"),
        (["account", "export", "--revoke", "ab", "--passphrase"], "--revoke and a passphrase cannot be used together"),
        (["account", "export", "--revoke", "xy"], "id 'xy' is not an id prefix (hexadecimal digits)"),
        (
            ["account", "export", "f", "--passphrase", "--passphrase-file", "p"],
            "--passphrase and --passphrase-file cannot be used together"
        ),
        (["account", "import", "f", "--passphrase-file", ""], "--passphrase-file is empty"),
        (["pair", "--timeout", "soon"], "--timeout 'soon' is not a number of seconds above 0 and at most 86400"),
        (["join", "--peer", "desk"], "address 'desk' is not in the form HOST:PORT or [ADDRESS]:PORT"),
        (["device", "remove", ""], "DEVICE is empty"),
        (["device", "remove", "a", "--drop", ""], "--drop is empty"),
        (["device", "remove", "a", "--no-wait", "--timeout", "1"], "--no-wait and --timeout cannot be used together"),
        (["device", "rename", "a", ""], "NAME is empty"),
        (["help", "contine"], "unknown command 'contine'; did you mean 'continue'?"),
    ])
    func `invalid values are described`(_ words: [String], _ expected: String) throws {
        guard case .command(let type, let arguments) = try Invocation(words).request else { throw NoCommand() }
        do throws(UsageError) {
            _ = try type.init(validating: arguments)
            Issue.record("it was taken")
        } catch {
            #expect(error.message == expected)
        }
    }

    @Test(arguments: [
        ["continue", "AB12-cd"], ["continue", "ab:12 cd"], ["continue", "--timeout", "2.5"], ["continue"],
        ["peer", "add", "desk.example.org:24863"], ["peer", "add", "[fe80::1%eth0]:1"],
        ["peer", "remove", "10.0.0.1:65535"],
        ["publish", "a", "--user-info", #"{"a": {"$date": 1.5}}"#], ["publish", "HTTPS://example.org/"],
        ["publish", "com.example.pdf"], ["publish", "org.example.reading"], ["publish", "example.note"],
        ["publish", "a", "--title=\u{301}x"], ["handle", "a", "b", "--exec", "-x"],
    ])
    func `valid values are accepted`(_ words: [String]) throws {
        guard case .command(let type, let arguments) = try Invocation(words).request else { throw NoCommand() }
        _ = try type.init(validating: arguments)
    }

    @Test func `a malformed payload is reported with its position`() {
        let malformed = message("publish", "a", "--user-info", "{\n  \"a\": x\n}")
        #expect(malformed?.hasPrefix("--user-info: ") == true)
        #expect(malformed?.contains("at line 2, column ") == true)
        #expect(message("publish", "a", "--user-info", #"{"a": {"$new": 1}}"#)?.contains("userInfo.a") == true)
    }

    @Test func `errors are JSON only if the option is not an operand`() {
        #expect(Invocation.wantsJSON(["status", "--json"]))
        #expect(!Invocation.wantsJSON(["handle", "--", "--json"]))
    }
}
