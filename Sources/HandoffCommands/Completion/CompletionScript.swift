/// The scripts that shells load. They contain no command names, but run this program for each
/// completion, so that they work with any installed version.
package enum CompletionScript: String, Sendable, CaseIterable {
    case bash
    case zsh
    case fish

    /// The text of the script.
    package var text: String {
        switch self {
        case .bash: Self.bashText
        case .zsh: Self.zshText
        case .fish: Self.fishText
        }
    }

    /// Readline breaks words at '=' and ':' and passes them unprocessed, so the script splits the
    /// line again. Candidates may contain text from other devices: they are quoted and never
    /// evaluated.
    private static let bashText = #"""
        # Completion of handoffctl for bash, printed by: handoffctl completion bash

        _handoffctl() {
            local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} word raw= joined index answer kind candidate meaning cut
            local -a words=() found=() meanings=()
            for ((index = 0; index <= COMP_CWORD; index++)); do
                word=${COMP_WORDS[index]} joined=
                [[ $line == [[:space:]]* || $index -eq 0 ]] || joined=yes
                line=${line#"${line%%[![:space:]]*}"}
                # Of the word at the cursor, only the part before it counts.
                if ((index == COMP_CWORD)); then word=$line; fi
                line=${line#"$word"}
                if [[ $joined ]]; then raw+=$word; else raw=$word; fi
                [[ ! $joined ]] || unset 'words[-1]'
                words+=("${raw//[\\\"\']/}")
            done
            answer=$(command handoffctl completion words -- "${words[@]:1}" 2>/dev/null) || return
            # Leave out the part that readline has already split off.
            cut=
            if [[ $COMP_WORDBREAKS == *[=:]* ]]; then cut=${words[-1]%"${words[-1]##*[=:]}"}; fi
            {
                IFS= read -r kind
                while IFS=$'\t' read -r candidate meaning; do
                    found+=("$candidate") meanings+=("$meaning")
                done
            } <<<"$answer"
            COMPREPLY=()
            if [[ $kind == "files "* ]]; then
                compopt -o filenames 2>/dev/null
                kind=${kind#files }
                while IFS= read -r candidate; do
                    candidate=$kind$candidate
                    COMPREPLY+=("${candidate#"$cut"}")
                done < <(compgen -f -- "${words[-1]#"$kind"}")
                return
            fi
            for index in "${!found[@]}"; do
                [[ ${found[index]} ]] || continue
                candidate=${found[index]#"$cut"}
                # A list is only displayed, so it can include the meanings.
                if [[ $COMP_TYPE == 63 && ${#found[@]} -gt 1 && ${meanings[index]} ]]; then
                    COMPREPLY+=("$candidate  (${meanings[index]})")
                elif [[ ${raw##*[=:]} == [\"\']* ]]; then
                    # Inside open quotes, only plain text is safe.
                    [[ $candidate == *[\"\'\\\$\`!]* ]] || COMPREPLY+=("$candidate")
                else
                    printf -v candidate %q "$candidate"
                    COMPREPLY+=("$candidate")
                fi
            done
        }
        complete -F _handoffctl handoffctl

        """#

    private static let zshText = #"""
        #compdef handoffctl
        # Completion of handoffctl for zsh, printed by: handoffctl completion zsh

        _handoffctl() {
            local kind line before
            local -a lines found shown
            lines=("${(@f)$(command handoffctl completion words -- \
                "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
            kind=$lines[1]
            shift lines
            if [[ $kind == files\ * ]]; then
                before=${kind#files }
                [[ -z $before ]] || compset -P "${(b)before}"
                _files
                return
            fi
            for line in $lines; do
                [[ -n ${line%%$'\t'*} ]] || continue
                found+=("${line%%$'\t'*}")
                shown+=("${line%%$'\t'*}  ${line#*$'\t'}")
            done
            (( $#found )) || return 1
            compadd -l -d shown -a found
        }

        if [[ $funcstack[1] == _handoffctl ]]; then
            _handoffctl "$@"
        else
            compdef _handoffctl handoffctl
        fi

        """#

    private static let fishText = #"""
        # Completion of handoffctl for fish, printed by: handoffctl completion fish

        function __handoffctl_complete
            set -l words (commandline -opc)
            set -l current (commandline -ct | string unescape)[1]
            set -l answer (command handoffctl completion words -- $words[2..-1] "$current" 2>/dev/null)
            set -l kind $answer[1]
            if string match -q 'files *' -- $kind
                set -l before (string replace 'files ' '' -- $kind)
                set -l begun (string sub --start (math (string length -- "$before") + 1) -- "$current")
                for file in (__fish_complete_path "$begun")
                    echo "$before$file"
                end
                return
            end
            for line in $answer[2..-1]
                echo $line
            end
        end

        complete -c handoffctl -f -a '(__handoffctl_complete)'

        """#
}
