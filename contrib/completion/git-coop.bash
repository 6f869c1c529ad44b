# Completion of git coop for bash.
#
# Installed as share/bash-completion/completions/git-coop, where bash-completion and git's own completion look: git's
# calls _git_coop for `git coop <TAB>`, and below it is registered for `git-coop <TAB>`. Without bash-completion,
# source this file in ~/.bashrc.
#
# No Python is started: commands and options are in the table, ids are names of files in the store, and worktrees are
# git's own list.

# The table: written by generate.py
__git_coop_table ()
{
	commands= options= argument= repeated=
	case "$1" in
	'')
		commands='status letter mail handoff todo request sync backup restore drain watch doctor gc hooks'
		options='--version -h --help'
		;;
	'status')
		options='--all-worktrees --short --json -h --help'
		;;
	'letter')
		commands='write read start ack abandon list show log adopt'
		options='-h --help'
		;;
	'letter write')
		options='-m=text --body=text -F=file --file=file --from-packet=file --subject=text --session=text --json -h --help'
		;;
	'letter read')
		options='--raw --session=text --json -h --help'
		argument='letter'
		;;
	'letter start')
		options='--session=text --json -h --help'
		argument='live_letter'
		;;
	'letter ack')
		options='-m=text --body=text -F=file --file=file --session=text --json -h --help'
		argument='live_letter'
		;;
	'letter abandon')
		options='--reason=text --session=text --json -h --help'
		argument='live_letter'
		;;
	'letter list')
		options='--all --all-worktrees --fleet --json --grep=text -i --since=text -n=text -h --help'
		;;
	'letter show')
		options='--raw --json -h --help'
		argument='letter'
		;;
	'letter log')
		options='--graph --oneline --json --grep=text -i --since=text -n=text -h --help'
		argument='letter'
		;;
	'letter adopt')
		options='--session=text --json -h --help'
		argument='text'
		;;
	'mail')
		commands='send read list show reply status trace sent requeue off on'
		options='-h --help'
		;;
	'mail send')
		options='--to=peer -m=text --body=text -F=file --file=file --from-packet=file --subject=text --kind=text --ttl=text --to-session=text --in-reply-to=message --outside --session=text --json -h --help'
		;;
	'mail read')
		options='--session=text --json -h --help'
		;;
	'mail list')
		options='--state=inbox|seen|expired|stranded --all --box=worktree --all-worktrees --json --grep=text -i --since=text -n=text -h --help'
		;;
	'mail show')
		options='--raw --box=worktree --json -h --help'
		argument='message'
		;;
	'mail reply')
		options='-m=text --body=text -F=file --file=file --from-packet=file --subject=text --kind=text --ttl=text --to-session=text --box=worktree --session=text --json -h --help'
		argument='message'
		;;
	'mail status')
		options='--json -h --help'
		;;
	'mail trace')
		options='--json -h --help'
		argument='sent_message'
		;;
	'mail sent')
		options='--json -h --help'
		;;
	'mail requeue')
		options='--to=peer --json -h --help'
		argument='undelivered_message'
		;;
	'mail off')
		options='--json -h --help'
		;;
	'mail on')
		options='--json -h --help'
		;;
	'handoff')
		commands='write read check template'
		options='-h --help'
		;;
	'handoff write')
		options='-m=text --body=text -F=file --file=file --json -h --help'
		argument='brief|result|continuation'
		;;
	'handoff read')
		options='--raw --json -h --help'
		argument='file'
		;;
	'handoff check')
		options='--json -h --help'
		argument='file'
		;;
	'handoff template')
		options='--json -h --help'
		argument='brief|result|continuation'
		;;
	'todo')
		commands='add list done reopen'
		options='-h --help'
		;;
	'todo add')
		options='--session=text --json -h --help'
		argument='text' repeated=1
		;;
	'todo list')
		options='--all --all-worktrees --json -h --help'
		;;
	'todo done')
		options='--json -h --help'
		argument='open_todo'
		;;
	'todo reopen')
		options='--json -h --help'
		argument='done_todo'
		;;
	'request')
		commands='open close list show'
		options='-h --help'
		;;
	'request open')
		options='--to=peer -m=text --body=text -F=file --file=file --from-packet=file --session=text --json -h --help'
		;;
	'request close')
		options='-m=text --body=text -F=file --file=file --from-packet=file --session=text --json -h --help'
		argument='open_request'
		;;
	'request list')
		options='--all --all-worktrees --json -h --help'
		;;
	'request show')
		options='--brief --result --json -h --help'
		argument='request'
		;;
	'sync')
		options='--dry-run --json -h --help'
		;;
	'backup')
		options='--json -h --help'
		argument='file'
		;;
	'restore')
		options='--merge --map=text --json -h --help'
		argument='file'
		;;
	'drain')
		options='--event=start|prompt|stop --client=claude|codex|gemini|cursor|copilot|opencode --session=text --cwd=directory --anchor=directory -h --help'
		;;
	'watch')
		options='-h --help'
		;;
	'doctor')
		options='--fix --json -h --help'
		;;
	'gc')
		options='--dry-run --json -h --help'
		;;
	'hooks')
		commands='install uninstall status show instructions'
		options='-h --help'
		;;
	'hooks install')
		options='--user --project --local --dry-run --json -h --help'
		argument='claude|codex|gemini|cursor|copilot|opencode'
		;;
	'hooks uninstall')
		options='--user --project --local --dry-run --json -h --help'
		argument='claude|codex|gemini|cursor|copilot|opencode'
		;;
	'hooks status')
		options='--json -h --help'
		;;
	'hooks show')
		options='--user --project --local --json -h --help'
		argument='claude|codex|gemini|cursor|copilot|opencode'
		;;
	'hooks instructions')
		options='--json -h --help'
		;;
	'help')
		options=''
		argument='status|letter|mail|handoff|todo|request|sync|backup|restore|drain|watch|doctor|gc|hooks'
		;;
	esac
}
# The table ends here

# __git_coop_option WORD: the kind of value that the option takes, in REPLY; empty for none.
__git_coop_option ()
{
	local option
	REPLY=
	for option in $options; do
		if [[ $option == "$1="* ]]; then
			REPLY=${option#*=}
			return
		fi
	done
}

# __git_coop_git ARGS...: git with the -C and --git-dir that stand on the command line, through git's own completion.
__git_coop_git ()
{
	if [[ " ${FUNCNAME[*]} " == *' __git_main '* ]]; then
		__git "$@" 2>/dev/null
	else
		git "$@" 2>/dev/null
	fi
}

# __git_coop_add WORD [END]: offer the word if it begins with what stands there.
__git_coop_add ()
{
	[[ $1 == "$cur"* ]] && COMPREPLY+=("$1${2- }")
}

# __git_coop_none: nothing is known here, and a file's name would be wrong.
__git_coop_none ()
{
	compopt +o default +o bashdefault 2>/dev/null
}

# __git_coop_relative TARGET: the way from the current directory to it, in REPLY; both without links.
__git_coop_relative ()
{
	local base up= target=$1/
	base=$(pwd -P)
	base=${base%/}/
	while [[ $target != "$base"* ]]; do
		base=${base%/*/}/
		up+=../
	done
	REPLY=$up${target#"$base"}
	REPLY=${REPLY%/}
}

# __git_coop_worktrees [own]: the clone's worktrees, the current one only with `own`.
__git_coop_worktrees ()
{
	local line root= usable= here typed=$cur colon= open=
	local -a roots=()
	here=$(__git_coop_git rev-parse --show-toplevel)
	while IFS= read -r line; do
		case $line in
		'worktree '*) root=${line#worktree } usable=1 ;;
		bare | prunable*) usable= ;;
		'') [[ $usable && ( ${1-} || $root != "$here" ) ]] && roots+=("$root") ;;
		esac
	done < <(__git_coop_git worktree list --porcelain)

	# What is typed, without its quotes: readline puts them back where compopt says that these are files.
	case $typed in
	[\"\']*) typed=${typed:1} ;;
	*) typed=${typed//\\/} ;;
	esac
	[[ $COMP_WORDBREAKS == *:* && $typed == *:* ]] && colon=${typed%"${typed##*:}"}
	for root in ${roots[@]+"${roots[@]}"}; do
		if [[ $typed != /* && -z ${__git_C_args-} ]]; then
			__git_coop_relative "$root"
			root=${REPLY:-.}
		fi
		[[ $root == "$typed"* ]] && COMPREPLY+=("${root#"$colon"}")
	done
	if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
		compopt -o dirnames 2>/dev/null
	elif ! compopt -o filenames +o nospace 2>/dev/null; then # bash 3.2 quotes nothing
		for line in "${!COMPREPLY[@]}"; do
			COMPREPLY[line]="$(printf %q "${COMPREPLY[line]}") "
		done
	fi
}

__git_coop_worktree ()
{
	__git_coop_worktrees own
}

__git_coop_peer ()
{
	__git_coop_worktrees
	if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
		__git_coop_add all
	elif [[ ! $cur ]]; then
		COMPREPLY+=(all) # beside paths it is taken for one, and no space may stand behind it
	fi
}

# __git_coop_find: the store and the box of this worktree, in `store` and `box` (its key).
__git_coop_find ()
{
	local common= root= file line
	store= box=
	{
		IFS= read -r common
		IFS= read -r root
	} < <(__git_coop_git rev-parse --path-format=absolute --git-common-dir --show-toplevel)
	[[ $common ]] || return
	store=$common/coop
	for file in "$store"/mail/box/*/path; do
		if [[ -r $file ]] && IFS= read -r line <"$file" && [[ $line == "$root" ]]; then
			file=${file%/path}
			box=${file##*/}
			return
		fi
	done
}

# __git_coop_ids FILE...: the ids that these files are named for, the last file's first, by their last eight digits
# or, where it was begun, whole.
__git_coop_ids ()
{
	local name at
	compopt -o nosort 2>/dev/null
	for ((at = $#; at > 0; at--)); do
		name=${!at##*/}
		name=${name%.*}
		[[ $name == *Z-???????? ]] || continue
		__git_coop_add "${name##*-}" || __git_coop_add "$name"
	done
	[[ ${#COMPREPLY[@]} -gt 0 ]] || __git_coop_none
}

__git_coop_letter ()
{
	local store box
	__git_coop_find
	__git_coop_ids "$store/letters/${box:-none}"/*.toml
}

# Only the newest record of a box can be live.
__git_coop_live_letter ()
{
	local store box
	local -a files
	__git_coop_find
	files=("$store/letters/${box:-none}"/*.toml)
	__git_coop_ids "${files[${#files[@]} - 1]}"
}

# What was filed may be many thousands: it is looked at when the id was begun.
__git_coop_message ()
{
	local store box mail
	local -a files=()
	__git_coop_find
	mail=$store/mail/box/${box:-none}
	if [[ $cur ]]; then
		files=("$mail"/seen/*"$cur"*.eml)
	fi
	__git_coop_ids "$mail"/expired/*.eml ${files[@]+"${files[@]}"} "$mail"/claiming/*.eml "$mail"/inbox/*.eml
}

__git_coop_undelivered_message ()
{
	local store box
	__git_coop_find
	__git_coop_ids "$store/mail/box/${box:-none}"/{expired,claiming}/*.eml
}

__git_coop_sent_message ()
{
	local store box
	__git_coop_find
	__git_coop_ids "$store/mail/box/${box:-none}"/sent/*
}

__git_coop_request ()
{
	local store box
	__git_coop_find
	__git_coop_ids "$store"/requests/*.toml
}

# __git_coop_saying STATUS FILE...: those of the files whose record has this status, in the array `files`.
__git_coop_saying ()
{
	local line status=$1
	shift
	files=()
	while IFS= read -r line; do
		files+=("$line")
	done < <(grep -lx -e "status = \"$status\"" -- "$@" 2>/dev/null)
}

__git_coop_open_request ()
{
	local store box
	local -a files
	__git_coop_find
	__git_coop_saying open "$store"/requests/*.toml
	__git_coop_ids ${files[@]+"${files[@]}"}
}

# __git_coop_todos FILE...: the ids of todos.
__git_coop_todos ()
{
	local name
	for name; do
		name=${name##*/}
		[[ $name == t-?????.toml ]] && __git_coop_add "${name%.toml}"
	done
	[[ ${#COMPREPLY[@]} -gt 0 ]] || __git_coop_none
}

__git_coop_todo ()
{
	local store box
	__git_coop_find
	__git_coop_todos "$store/todos/${box:-none}"/*.toml
}

__git_coop_open_todo ()
{
	local store box
	local -a files
	__git_coop_find
	__git_coop_saying open "$store/todos/${box:-none}"/*.toml
	__git_coop_todos ${files[@]+"${files[@]}"}
}

__git_coop_done_todo ()
{
	local store box
	local -a files
	__git_coop_find
	__git_coop_saying "done" "$store/todos/${box:-none}"/*.toml
	__git_coop_todos ${files[@]+"${files[@]}"}
}

# __git_coop_value KIND: complete a value. Of a file's name readline knows more.
__git_coop_value ()
{
	local word
	case $1 in
	file) ;;
	directory) compopt -o dirnames 2>/dev/null ;;
	text | '') __git_coop_none ;;
	*'|'*)
		for word in ${1//|/ }; do
			__git_coop_add "$word"
		done
		[[ ${#COMPREPLY[@]} -gt 0 ]] || __git_coop_none
		;;
	*) "__git_coop_$1" ;;
	esac
}

# _git_coop: called by git's completion, which sets cur, words, cword and, since git 2.31, __git_cmd_idx.
_git_coop ()
{
	local commands options argument repeated
	local at word kind= rest= where= count=0 begin REPLY
	local -a line=()

	begin=${__git_cmd_idx:-0}
	if ((begin == 0)) && [[ ${words[0]} != *git-coop ]]; then
		for ((begin = 1; begin < cword; begin++)); do
			[[ ${words[begin]} == coop ]] && break
		done
	fi
	# An alias (coop.gitconfig has some) may stand for more words than the one that git's completion puts in its place.
	word=${words[begin]}
	((begin == 1)) && word=${COMP_WORDS[1]-coop}
	if ((begin > 0)) && [[ $word != coop ]]; then
		read -r -a line <<<"$(__git_coop_git config --get "alias.$word")"
		line=(${line[@]+"${line[@]:1}"})
	fi
	line+=("${words[@]:begin + 1:cword - begin - 1}")

	__git_coop_table ''
	for ((at = 0; at < ${#line[@]}; at++)); do
		word=${line[at]}
		if [[ $rest ]]; then
			count=$((count + 1))
		elif [[ $word == -- ]]; then
			rest=1
		elif [[ $word == --*=* ]]; then
			:
		elif [[ $word == -?* ]]; then
			__git_coop_option "$word"
			if [[ $REPLY ]] && ((++at == ${#line[@]})); then
				kind=$REPLY
			fi
		elif [[ $commands ]]; then
			where=${where:+$where }$word
			__git_coop_table "$where"
		else
			count=$((count + 1))
		fi
	done

	COMPREPLY=()
	if [[ $kind ]]; then
		__git_coop_value "$kind"
	elif [[ ! $rest && $cur == --*=* ]]; then
		word=${cur%%=*}
		__git_coop_option "$word"
		cur=${cur#*=}
		__git_coop_value "$REPLY"
		if [[ $COMP_WORDBREAKS != *=* ]]; then # the whole word is replaced, not what stands behind the sign
			COMPREPLY=(${COMPREPLY[@]+"${COMPREPLY[@]/#/$word=}"})
		fi
	elif [[ ! $rest && $cur == -* ]]; then
		for word in $options; do
			__git_coop_add "${word%%=*}"
		done
		[[ ${#COMPREPLY[@]} -gt 0 ]] || __git_coop_none
	elif [[ $commands ]]; then
		for word in $commands; do
			__git_coop_add "$word"
		done
		[[ ${#COMPREPLY[@]} -gt 0 ]] || __git_coop_none
	elif [[ $count -eq 0 || $repeated ]]; then
		__git_coop_value "$argument"
	else
		__git_coop_none
	fi
}

# __git_coop_main: called by bash for the word `git-coop` itself. The words that COMP_WORDBREAKS split at `=` and `:`
# are put together again, as git's completion has them.
__git_coop_main ()
{
	local cur cword=-1 i
	local -a words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if ((cword > 0)) && [[ ${COMP_WORDS[i]} == [=:]* || ${words[cword]} == *[=:] ]] &&
			[[ ${COMP_LINE:0:COMP_POINT} == *"${words[cword]}${COMP_WORDS[i]}"* ]]; then
			words[cword]+=${COMP_WORDS[i]}
		else
			words[++cword]=${COMP_WORDS[i]}
		fi
	done
	cur=${words[cword]}
	_git_coop
}

complete -o bashdefault -o default -o nospace -F __git_coop_main git-coop
