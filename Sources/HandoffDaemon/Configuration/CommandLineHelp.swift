import LoopIO

/// The text of `handoffd --help`.
package enum CommandLineHelp {
    package static let text = """
        usage: handoffd [OPTION]...

        Makes your activities on this device available on your other devices, and theirs on this one. Runs in the
        foreground as a user service. SIGTERM stops it cleanly, and SIGHUP reloads the configuration.

        \(HelpColumns.text(CommandLineParser.options.map { ($0.synopsis, $0.summary) }))

        Settings are read from the command line, then from HANDOFFD_ environment variables (such as
        HANDOFFD_LOG_LEVEL), then from $XDG_CONFIG_HOME/handoff/handoffd.conf, then /etc/handoff/handoffd.conf.

        Exit codes: 0 stopped cleanly, 1 failed to start or run, 2 invalid usage, 78 the configuration, the policy or a
        state file must be corrected first.

        """
}
