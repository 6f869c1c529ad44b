# What waits in this worktree, for a prompt: `letter:unread mail:2`, in the words of `git coop status --short`.
#
# Source this file in ~/.bashrc, ~/.zshrc or any POSIX shell's profile, then put the function into the prompt:
#
#     bash    PROMPT_COMMAND='__git_coop_ps1 -v coop " (%s)"'; PS1='\w${coop}\$ '
#     zsh     setopt prompt_subst; precmd() { __git_coop_ps1 -v coop ' (%s)' }; PROMPT='%~${coop}%# '
#     any     PS1='$(__git_coop_ps1 "(%s) ")$ '
#
# With -v NAME the answer goes into a variable; without, it is printed, and the shell forks for the $(...). A format
# has one %s, and nothing at all is said where nothing waits. Todos and requests are left to git coop status.
#
# No process is started and nothing is written: the function walks up to the git directory, finds the box by the name
# and the path of the worktree, and looks at names of files and at the state of the newest letter. It does not look at
# GIT_DIR, nor at a box that was left behind by a worktree that moved and has run no command since.

__git_coop_ps1 ()
{
	if [ -n "${ZSH_VERSION-}" ]; then
		emulate -L sh
	fi

	# the variable and the format
	__git_coop_to= __git_coop_form=%s
	if [ "${1-}" = -v ]; then
		__git_coop_to=$2
		shift 2
		eval "$__git_coop_to="
	fi
	if [ $# -gt 0 ]; then
		__git_coop_form=$1
	fi

	__git_coop_said=
	__git_coop_look
	if [ -n "$__git_coop_said" ]; then
		__git_coop_said="${__git_coop_form%%%s*}$__git_coop_said${__git_coop_form#*%s}"
		if [ -n "$__git_coop_to" ]; then
			eval "$__git_coop_to=\$__git_coop_said"
		else
			printf '%s' "$__git_coop_said"
		fi
	fi
	unset __git_coop_to __git_coop_form __git_coop_said
}

# What waits, in __git_coop_said.
__git_coop_look ()
{
	__git_coop_root=$PWD
	until [ -e "$__git_coop_root/.git" ]; do
		case $__git_coop_root in
		*/*) __git_coop_root=${__git_coop_root%/*} ;;
		*) return 0 ;;
		esac
	done

	# gitrepository-layout(5): .git may be a file that names the git directory, and that has a commondir if it is
	# a linked worktree's.
	__git_coop_common=$__git_coop_root/.git
	if [ -f "$__git_coop_common" ]; then
		IFS= read -r __git_coop_line <"$__git_coop_common" || :
		__git_coop_line=${__git_coop_line#gitdir: }
		case $__git_coop_line in
		/*) __git_coop_common=$__git_coop_line ;;
		*) __git_coop_common=$__git_coop_root/$__git_coop_line ;;
		esac
	fi
	if [ -f "$__git_coop_common/commondir" ]; then
		IFS= read -r __git_coop_line <"$__git_coop_common/commondir" || :
		case $__git_coop_line in
		/*) __git_coop_common=$__git_coop_line ;;
		*) __git_coop_common=$__git_coop_common/$__git_coop_line ;;
		esac
	fi
	__git_coop_store=$__git_coop_common/coop
	if [ -d "$__git_coop_store/mail/box" ] && __git_coop_box; then
		__git_coop_count
		if [ -e "$__git_coop_store/OFF" ]; then
			__git_coop_said="$__git_coop_said held"
		fi
		__git_coop_said=${__git_coop_said# }
	fi
}

# The box of this worktree, in __git_coop_key, by the path that each box records. A box that was found is looked at
# first the next time.
__git_coop_box ()
{
	if [ "$__git_coop_root" = "${__git_coop_last_root-}" ]; then
		__git_coop_key=$__git_coop_last_key
		if [ -f "$__git_coop_store/mail/box/$__git_coop_key/path" ]; then
			IFS= read -r __git_coop_line <"$__git_coop_store/mail/box/$__git_coop_key/path" || :
			[ "$__git_coop_line" != "$__git_coop_last_path" ] || return 0
		fi
	fi

	# A shell may have come here through a symbolic link; what is recorded is the way without any.
	__git_coop_linked= __git_coop_rest=$__git_coop_root
	while [ -n "$__git_coop_rest" ]; do
		if [ -h "$__git_coop_rest" ]; then
			__git_coop_linked=1
			break
		fi
		__git_coop_rest=${__git_coop_rest%/*}
	done

	# A key begins with a slug of the last component.
	__git_coop_slug
	for __git_coop_file in "$__git_coop_store"/mail/box/$__git_coop_slug-*/path; do
		[ -f "$__git_coop_file" ] || continue
		IFS= read -r __git_coop_line <"$__git_coop_file" || :
		if [ "$__git_coop_line" = "$__git_coop_root" ] ||
			{ [ -n "$__git_coop_linked" ] && [ "$__git_coop_line" -ef "$__git_coop_root" ]; }; then
			__git_coop_key=${__git_coop_file%/path}
			__git_coop_key=${__git_coop_key##*/}
			__git_coop_last_root=$__git_coop_root __git_coop_last_key=$__git_coop_key
			__git_coop_last_path=$__git_coop_line
			return 0
		fi
	done
	return 1
}

# The pattern of the keys of this directory's name, in __git_coop_slug.
__git_coop_slug ()
{
	__git_coop_rest=${__git_coop_root##*/} __git_coop_slug=
	if [ -h "$__git_coop_root" ]; then # the name is another
		__git_coop_slug=*
		return 0
	fi
	while [ -n "$__git_coop_rest" ] && [ ${#__git_coop_slug} -lt 32 ]; do
		case $__git_coop_rest in
		[0123456789abcdefghijklmnopqrstuvwxyz]*)
			__git_coop_slug=$__git_coop_slug${__git_coop_rest%"${__git_coop_rest#?}"}
			;;
		[ABCDEFGHIJKLMNOPQRSTUVWXYZ]*) __git_coop_slug="$__git_coop_slug?" ;; # lowered, which no shell does alike
		*)
			case $__git_coop_slug in
			'' | *-) ;;
			*) __git_coop_slug=$__git_coop_slug- ;;
			esac
			;;
		esac
		__git_coop_rest=${__git_coop_rest#?}
	done
	__git_coop_slug=${__git_coop_slug%-}
	: "${__git_coop_slug:=box}"
}

# The letter's state and the number of messages, in __git_coop_said. Names sort by time, and only the newest record
# of a box can be live. A record's state stands before its body.
__git_coop_count ()
{
	set -- "$__git_coop_store/letters/$__git_coop_key/"*Z-????????.toml
	[ $# -le 1 ] || shift $(($# - 1))
	if [ -f "${1-}" ]; then
		while IFS= read -r __git_coop_line; do
			case $__git_coop_line in
			'status = "unread"' | 'status = "read"' | 'status = "working"')
				__git_coop_line=${__git_coop_line#*\"}
				__git_coop_said=letter:${__git_coop_line%\"}
				break
				;;
			'status = '* | 'body = '*) break ;;
			esac
		done <"$1"
	fi

	set -- "$__git_coop_store/mail/box/$__git_coop_key/inbox/"*Z-????????.eml
	if [ -e "${1-}" ]; then
		__git_coop_said="$__git_coop_said mail:$#"
	fi
}
