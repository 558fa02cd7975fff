import Glibc
import HandoffControl
import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import Testing

@Suite struct PolicyTests {
    private func policy(_ texts: String...) throws -> Policy {
        var policy = Policy()
        for (number, text) in texts.enumerated() {
            try PolicyLoader.add(Array(text.utf8), path: "/p/\(number).conf", to: &policy)
        }
        return policy
    }

    private func type(_ text: String) throws -> ActivityType { try #require(ActivityType(text)) }

    @Test
    func `an empty policy forbids nothing`() throws {
        let policy = try policy("# nothing\n\n[switches]\nadvertise = yes\n")
        #expect(policy.forbids(.advertise) == nil)
        #expect(policy.forbids(try type("com.example.a")) == nil)
        #expect(policy.forbids(app: "a") == nil)
        #expect(policy == Policy())
    }

    @Test
    func `a file can only add restrictions, and is named with its line`() throws {
        let policy = try policy("advertise = no\n", "\nadvertise = yes\nreceive = no")
        #expect(policy.forbids(.advertise) == "/p/0.conf:1")
        #expect(policy.forbids(.receive) == "/p/1.conf:3")
    }

    @Test
    func `types are forbidden individually or by prefix`() throws {
        let policy = try policy("[forbidden]\nforbid-type = com.example.a\nforbid-type = org.secret.*\n")
        #expect(policy.forbids(try type("com.example.a")) == "/p/0.conf:2")
        #expect(policy.forbids(try type("com.example.ab")) == nil)
        #expect(policy.forbids(try type("org.secret.x")) == "/p/0.conf:3")
        #expect(policy.forbids(try type("org.secrets")) == nil)
        #expect(try self.policy("forbid-type = *").forbids(try type("x")) != nil)
    }

    @Test
    func `apps and devices are forbidden by their ids`() throws {
        let device = DeviceID(checked: [UInt8](repeating: 7, count: DeviceID.byteCount))
        let policy = try policy("forbid-app = org.example.Diary\nforbid-device = \(device.hex)\n")
        #expect(policy.forbids(app: "org.example.Diary") == "/p/0.conf:1")
        #expect(policy.forbids(app: "org.example.diary") == nil)
        #expect(policy.forbids(device) == "/p/0.conf:2")
        #expect(policy.forbiddenDevices == [device])
    }

    @Test(arguments: [
        "x\nadvertize = no", "x\nadvertise = off", "x\nadvertise =", "x\nforbid-type =", "x\nforbid-type = a*b",
        "x\nforbid-type = a b", "x\nforbid-device = 12", "x\nforbid-app =", "x\n[apps]", "x\nadvertise",
        "x\nforbid-type = **",
    ])
    func `an error names file and line`(_ text: String) {
        let bytes = Array(text.replacing("x\n", with: "receive = yes\n").utf8)
        var policy = Policy()
        let error = #expect(throws: ConfigurationError.self) {
            try PolicyLoader.add(bytes, path: "/p/a.conf", to: &policy)
        }
        #expect(error?.place == "/p/a.conf:2")
    }

    @Test
    func `only the policy files of the folder are read, in name order`() throws {
        let folder = try ScratchStateFolder()
        try #require(mkdir(folder.path, 0o700) == 0)
        func write(_ name: String, _ text: String) throws {
            let file = open("\(folder.path)/\(name)", O_WRONLY | O_CREAT, 0o600)
            try #require(file >= 0 && Glibc.write(file, text, text.utf8.count) == text.utf8.count)
            close(file)
        }
        try write("20.conf", "advertise = no")
        try write("10.conf", "advertise = no\nforbid-app = a")
        try write("30.conf.bak", "nonsense")
        try write(".40.conf", "nonsense")
        let policy = try PolicyLoader(folder: folder.path).load()
        #expect(policy.forbids(.advertise) == "\(folder.path)/10.conf:1")
        #expect(policy.forbids(app: "a") != nil)
        #expect(try PolicyLoader(folder: folder.path + "/none").load() == Policy())
        try write("50.conf", "nonsense")
        #expect(throws: ConfigurationError.self) { try PolicyLoader(folder: folder.path).load() }
    }

    @Test
    func `the shipped policy forbids nothing and names every key`() throws {
        let path = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } + "/config/policy.conf"
        let bytes = try #require(try ConfigurationReader.read(path))
        var policy = Policy()
        try PolicyLoader.add(bytes, path: path, to: &policy)
        #expect(policy == Policy())
        var words: [String] = []
        for line in bytes.split(separator: 0x0A) where line.first == 0x23 && line.contains(0x3D) {
            let word = String(decoding: line.dropFirst().prefix { $0 != 0x20 && $0 != 0x3D }, as: UTF8.self)
            if !word.isEmpty { words.append(word) }
            if !word.isEmpty { try PolicyLoader.add(Array(line.dropFirst()), path: path, to: &policy) }
        }
        #expect(words == PolicyKey.all.map(\.key))
    }
}
