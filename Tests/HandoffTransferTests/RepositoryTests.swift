import HandoffModel
import HandoffTransfer
import Testing

/// Receives a folder created by a shell command, under the name `got`.
private func receive(_ command: String) throws -> (target: TestFolder, header: TransferHeader, remarks: [String]) {
    let (source, target) = (try TestFolder(), try TestFolder())
    source.make("got")
    _ = shell("cd '\(source.file("got"))' && { \(command); } >/dev/null 2>&1")
    let sent = try SourceFile(source.file("got"))
    guard case .folder(let part) = try Destination(output: target.path).open(sent.header, from: try sender()) else {
        throw TransferFailure(.failed, "no folder")
    }
    let writer = try sent.makeArchive()
    while let more = try writer.next() { try part.write(more) }
    try part.finish()
    return (target, sent.header, part.remarks)
}

@Suite struct RepositoryTests {
    @Test(arguments: [
        (".git", "config"), (".git", "config.worktree"), (".git", "commondir"), (".git", "hooks/pre-commit"),
        (".GIT", "Config"), (".git.", "config"), (".g\u{200C}it", "config"), ("git~1", "config"),
        (".hg", "hgrc"), (".hg", "sharedpath"), (".sl", "config"), (".jj/repo", "config.toml"),
        ("_darcs/prefs", "defaults"), (".git/modules/sub/.git", "config"), ("a/b/.git", "config"),
    ])
    func `files that version control would run are set aside, at any depth`(folder: String, file: String) throws {
        let (target, header, remarks) = try receive(
            "mkdir -p \"$(dirname '\(folder)/\(file)')\"; echo x > '\(folder)/\(file)'")
        #expect(header.hasRepository)
        let first = file.split(separator: "/")[0]
        #expect(target.read("got/\(folder)/\(file)") == nil)
        let aside = "got/\(folder)/\(first).set-aside" + file.dropFirst(first.count)
        #expect(target.read(aside) == Array("x\n".utf8))
        #expect(remarks.count == 2 && remarks[1].contains("\(first) is set aside as \(first).set-aside"))
    }

    @Test(.enabled(if: shell("git --version").hasPrefix("git version")))
    func `git runs nothing of a received repository, including bare ones, submodules and worktrees`() throws {
        let marker = try TestFolder()
        let configure = """
            poison() {
                git -C "$1" config core.fsmonitor "touch '\(marker.path)/fsmonitor'; false"
                git -C "$1" config core.pager "touch '\(marker.path)/pager'; cat"
                hooks=$(cd "$1" && git rev-parse --git-path hooks)
                mkdir -p "$(cd "$1" && cd "$(dirname "$hooks")" && pwd)/hooks"
            }
            export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
            git init -q plain; echo 1 > plain/f; git -C plain add f; git -C plain commit -qm 1
            git clone -q --bare plain bare.git; git init -q --bare inner
            git -C plain worktree add -q ../work -b other
            git -C plain -c protocol.file.allow=always submodule --quiet add ../bare.git sub
            for each in plain bare.git inner plain/sub; do poison "$each"; done
            """
        let (target, header, remarks) = try receive(configure)
        #expect(header.hasRepository)
        #expect(remarks.count > 5)
        for folder in ["plain", "bare.git", "inner", "plain/sub", "work"] {
            _ = shell(
                "cd '\(target.file("got/\(folder)"))' && git status; git -p log; git diff; git commit --allow-empty -m x"
            )
        }
        #expect(marker.names.isEmpty)
        #expect(target.read("got/plain/.git/config") == nil)
        #expect(target.read("got/bare.git/config") == nil)
        #expect(target.read("got/inner/config") == nil)
        #expect(target.read("got/plain/.git/modules/sub/config") == nil)
        #expect(target.read("got/plain/sub/.git") == nil)
        #expect(target.read("got/work/.git") == nil)
        #expect(target.read("got/plain/.git/worktrees/work/commondir") == nil)
        #expect(target.read("got/plain/f") == Array("1\n".utf8))
    }

    @Test(arguments: [
        "mkdir a; echo x > a/HEAD; echo x > a/config", "echo x > .gitignore; echo x > config; mkdir hooks",
        "echo x > .envrc",
    ])
    func `a folder that only resembles a repository arrives unchanged`(command: String) throws {
        let (target, header, remarks) = try receive(command)
        #expect(!header.hasRepository && remarks.isEmpty)
        #expect(!target.listing().contains("set-aside"))
    }

    @Test
    func `a second name set aside does not replace the first`() throws {
        let (target, _, _) = try receive("mkdir .git; echo 1 > .git/config; echo 2 > .git/config.set-aside")
        #expect(target.read("got/.git/config") == nil)
        #expect(target.read("got/.git/config.set-aside") == Array("2\n".utf8))
        #expect(target.read("got/.git/config.set-aside (2)") == Array("1\n".utf8))
    }

    @Test
    func `read-only folders in a repository are handled`() throws {
        let (target, _, _) = try receive("mkdir -p .git/hooks; echo 1 > .git/config; chmod 500 .git .git/hooks")
        #expect(target.read("got/.git/config.set-aside") == Array("1\n".utf8))
        #expect(target.mode("got/.git/hooks.set-aside") == 0o500)
    }

    @Test
    func `entries that arrived before an interruption are set aside, too`() throws {
        let (source, target) = (try TestFolder(), try TestFolder())
        source.make("got")
        _ = shell(
            """
            cd '\(source.file("got"))' && mkdir -p a b/objects b/refs .git && echo 'gitdir: x' > a/.git
            echo x > .git/config; for name in HEAD config; do echo x > b/$name; done; echo y > z
            """)
        let sent = try SourceFile(source.file("got"))
        func open() throws -> PartFolder {
            guard case .folder(let part) = try Destination(output: target.path).open(sent.header, from: try sender())
            else { throw TransferFailure(.failed, "no folder") }
            return part
        }
        func compared(_ archive: FolderArchive) throws -> FolderArchive.Beginning {
            while try archive.compare() == nil {}
            return archive.beginning
        }
        do {
            let part = try open()
            let archive = try sent.makeArchive()
            try part.prepare(behind: nil)
            // All but the two final blocks.
            while let piece = try archive.next() { try part.write(Array(piece.dropLast(1024))) }
        }
        let part = try open()
        let here = try #require(try part.makeArchive())
        let rest = try sent.makeArchive(behind: try compared(here))
        #expect(try compared(rest) == here.beginning)
        try part.prepare(behind: here)
        while let piece = try rest.next() { try part.write(piece) }
        try part.finish()
        for path in [".git/config", "a/.git", "b/config"] {
            #expect(target.read("got/\(path)") == nil && target.read("got/\(path).set-aside") != nil)
        }
        #expect(target.read("got/z") == Array("y\n".utf8))
    }
}
