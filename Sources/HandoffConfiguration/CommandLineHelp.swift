/// The text of `handoffd --help`.
package enum CommandLineHelp {
    package static let text = """
        usage: handoffd [OPTION]...

        Makes your activities on this device available on your other devices, and theirs on this one. Runs in the
        foreground as a user service. SIGTERM stops it cleanly, and SIGHUP reloads the configuration.

          --config FILE       read this configuration file instead of the default ones
          --state-dir DIR     store keys and state here (default: $STATE_DIRECTORY, else $XDG_STATE_HOME/handoff/state)
          --socket PATH       the control socket (default: $XDG_RUNTIME_DIR/handoff/control.socket)
          --app-socket PATH   the app socket (default: next to the default control socket; with --socket: none)
          --address IP        listen on this address only
          --port N            listen on this port only (0: any)
          --interface NAME    be discoverable only on this interface; may be repeated
          --discovery HOW     auto, avahi, embedded or static
          --name NAME         the name shown on your other devices
          --no-desktop        do not start apps, show notifications or watch screen locks, for a machine without a user
          --check-config      check configuration and policy, report the first error, and exit
          --log-level LEVEL   debug, info, notice, error or fault
          --help, --version   print this text, or the version

        Settings are read from the command line, then from HANDOFFD_ environment variables (such as
        HANDOFFD_LOG_LEVEL), then from $XDG_CONFIG_HOME/handoff/handoffd.conf, then /etc/handoff/handoffd.conf.

        Exit codes: 0 stopped cleanly, 1 failed to start or run, 2 invalid usage, 78 the configuration, the policy or a
        state file must be corrected first.

        """
}
