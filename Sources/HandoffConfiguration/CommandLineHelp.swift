/// The text of `handoffd --help`.
package enum CommandLineHelp {
    /// What `--help` prints.
    package static let text = """
        usage: handoffd [OPTION]...

        Offers what you do on this device to your other devices, and theirs to you. Runs in the foreground, as a user
        service; SIGTERM ends it in order, SIGHUP reads the configuration again.

          --config FILE       read this configuration file instead of the usual ones
          --state-dir DIR     keep keys and state here (default: $STATE_DIRECTORY, else $XDG_STATE_HOME/handoff/state)
          --socket PATH       the control socket (default: $XDG_RUNTIME_DIR/handoff/control.socket)
          --app-socket PATH   the app socket (default: beside the default control socket; with --socket: none)
          --address IP        listen on this address only
          --port N            listen on this port only (0: any)
          --interface NAME    be found on this interface only; may be repeated
          --discovery HOW     auto, avahi, embedded or static
          --name NAME         the name that your other devices show
          --no-desktop        start no app, show no notification, ignore screen locks: for a machine without a user
          --check-config      read configuration and policy, report the first mistake in them, and exit
          --log-level LEVEL   debug, info, notice, error or fault
          --help, --version   print this text, or the version

        Settings are taken from the command line, then HANDOFFD_ variables of the environment (such as
        HANDOFFD_LOG_LEVEL), then $XDG_CONFIG_HOME/handoff/handoffd.conf, then /etc/handoff/handoffd.conf.

        Exit codes: 0 ended in order, 1 could not start or failed, 2 wrong usage, 78 configuration, policy or a file of the
        state folder must be corrected first.

        """
}
