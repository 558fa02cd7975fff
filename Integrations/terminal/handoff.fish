# Offers the current directory of this shell on your other devices. Source it in ~/.config/fish/config.fish. docs/terminal.md
# describes it. The helper reads one small file for each shell, so that prompts never wait for the helper.
if status is-interactive; and not set -q __handoff_folder; and command -q handoff-terminal
    set -q XDG_RUNTIME_DIR; and set -g __handoff_folder $XDG_RUNTIME_DIR/handoff-terminal
    or set -g __handoff_folder /run/user/(id -u)/handoff-terminal
    test -d $__handoff_folder; or mkdir -m 700 $__handoff_folder 2>/dev/null

    function __handoff_prompt --on-event fish_prompt
        # fish would show a warning at each prompt if the folder was removed.
        test -w $__handoff_folder; and printf '%s\0%s\0%s' "$PWD" "$TMUX" "$TMUX_PANE" >$__handoff_folder/$fish_pid
    end

    handoff-terminal directory $fish_pid </dev/null >/dev/null 2>&1 &
    disown
end
