# Completion of git coop for fish.
#
# Installed as share/fish/vendor_completions.d/git-coop.fish, which fish reads when `git-coop` is completed. For
# `git coop` fish's own completion of git asks for that; see git-coop-conf.fish beside this file.
#
# No Python is started: commands and options are in the table, ids are names of files in the store, and worktrees are
# git's own list.

# The command's words so far, options left out; no option of a command that has commands takes a value.
function __fish_git_coop_words
    set -l words (commandline -opc)
    string match -v -- '-*' $words[2..-1]
end

# Whether a command of these words is to be completed.
function __fish_git_coop_needs_command
    set -l words (__fish_git_coop_words)
    test "$words" = "$argv"
end

# Whether these words stand first.
function __fish_git_coop_at
    set -l words (__fish_git_coop_words)
    test (count $words) -ge (count $argv); and test "$words[1..$(count $argv)]" = "$argv"
end

# The worktrees of the clone, with `others` without the current one.
function __fish_git_coop_roots
    set -l here (git rev-parse --show-toplevel 2>/dev/null)
    set -l root
    for line in (git worktree list --porcelain 2>/dev/null) ''
        switch $line
            case 'worktree *'
                set root (string sub -s 10 -- $line)
            case bare 'prunable*'
                set root
            case ''
                if set -q root[1]; and not test "$argv" = others -a "$root" = "$here"
                    __fish_git_coop_way $root
                end
                set root
        end
    end
end

# What is typed of a value, without the option in front of it.
function __fish_git_coop_token
    commandline -ct | string replace -r -- '^--[a-z-]*=' ''
end

# A path as a way from the current directory; whole where one was begun with a slash, and where the way begins with
# a dot and what is typed does not, for fish does not offer it then.
function __fish_git_coop_way
    set -l token (__fish_git_coop_token)
    set -l base (string split -n / -- (pwd -P))
    set -l target (string split -n / -- $argv)
    while set -q base[1]; and set -q target[1]; and test "$base[1]" = "$target[1]"
        set -e base[1]
        set -e target[1]
    end
    set -l way (string join / -- (string replace -r -- '.*' '..' $base) $target)
    test -n "$way"; or set way .
    if string match -q -r -- '^["\']?/' "$token"; or string match -q '.*' -- $way; and not string match -q '.*' -- "$token"
        echo $argv
    else
        echo $way
    end
end

function __fish_git_coop_worktree
    __fish_git_coop_roots
    __fish_git_coop_directories
end

function __fish_git_coop_peer
    __fish_git_coop_roots others
    printf 'all\tevery other worktree of this clone\n'
    __fish_git_coop_directories
end

# Directories, where one was begun: a worktree of another clone may be meant.
function __fish_git_coop_directories
    set -l token (__fish_git_coop_token)
    if test -n "$token"
        __fish_complete_directories $token
    end
end

# __fish_git_coop_files FOLDER...: the files in folders of the store; `@` stands for the key of this worktree.
function __fish_git_coop_files
    set -l places (git rev-parse --path-format=absolute --git-common-dir --show-toplevel 2>/dev/null)
    set -q places[2]; or return
    set -l store $places[1]/coop
    set -l key none
    for file in $store/mail/box/*/path
        if read -l line <$file; and test "$line" = "$places[2]"
            set key (string split / -- $file)[-2]
            break
        end
    end
    for folder in (string replace @ $key -- $argv)
        set -l files $store/$folder/*
        set -q files[1]; and printf '%s\n' $files
    end
end

# Ids in the names of files, newest first, by their last eight digits or, where it was begun, whole.
function __fish_git_coop_ids
    set -l pattern '^.*/((\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)\d{5}Z)-([0-9a-f]{8})(?:\.toml|\.eml)?$'
    set -l form '$7\t$2-$3-$4 $5:$6 UTC'
    string match -q -r -- '^\d{8}T' (commandline -ct); and set form '$1-$7\t$2-$3-$4 $5:$6 UTC'
    string replace -f -r -- $pattern $form $argv[-1..1]
end

function __fish_git_coop_letter
    __fish_git_coop_ids (__fish_git_coop_files letters/@)
end

# Only the newest record of a box can be live.
function __fish_git_coop_live_letter
    __fish_git_coop_ids (__fish_git_coop_files letters/@ | string match '*.toml')[-1]
end

# What was filed may be many thousands: it is looked at when the id was begun.
function __fish_git_coop_message
    set -l folders expired claiming inbox
    test -n (commandline -ct); and set -p folders seen
    __fish_git_coop_ids (__fish_git_coop_files mail/box/@/$folders)
end

function __fish_git_coop_undelivered_message
    __fish_git_coop_ids (__fish_git_coop_files mail/box/@/{expired,claiming})
end

function __fish_git_coop_sent_message
    __fish_git_coop_ids (__fish_git_coop_files mail/box/@/sent)
end

function __fish_git_coop_request
    __fish_git_coop_ids (__fish_git_coop_files requests)
end

# __fish_git_coop_saying STATUS FILE...: those of the files whose record has this status.
function __fish_git_coop_saying
    set -q argv[2]; and grep -lx -e "status = \"$argv[1]\"" -- $argv[2..-1] 2>/dev/null
end

function __fish_git_coop_open_request
    __fish_git_coop_ids (__fish_git_coop_saying open (__fish_git_coop_files requests))
end

# __fish_git_coop_todos FILE...: the ids of todos, each with its text.
function __fish_git_coop_todos
    for file in $argv
        set -l id (string match -r -- '(t-[0-9a-z]{5})\.toml$' $file)[2]
        set -q id[1]; or continue
        set -l text (string match -r -- '^text = .(.*).$' <$file)[2]
        printf '%s\t%s\n' $id $text
    end
end

function __fish_git_coop_todo
    __fish_git_coop_todos (__fish_git_coop_files todos/@)
end

function __fish_git_coop_open_todo
    __fish_git_coop_todos (__fish_git_coop_saying open (__fish_git_coop_files todos/@))
end

function __fish_git_coop_done_todo
    __fish_git_coop_todos (__fish_git_coop_saying done (__fish_git_coop_files todos/@))
end

# The table: written by generate.py
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a status -d 'show what waits here, as git coop alone does, or in the clone'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a letter -d 'write, read and close the letter to the next session here'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a mail -d 'send messages to other worktrees, and read what came'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a handoff -d 'write, read and check packets: briefs, results, continuations'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a todo -d 'what is to be done in this worktree'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a request -d 'ask another worktree for work, and answer with its result'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a sync -d 'carry letters, todos and requests to other machines through git'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a backup -d 'write them into a bundle'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a restore -d 'read a bundle, and go on where the disk died'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a drain -d 'show what waits and file what was shown (what hooks call)'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a watch -d 'watch the boxes of the clone in the terminal'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a doctor -d 'check the store, the hooks and the settings, and mend what can be'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a gc -d 'remove filed mail that is older than coop.retention'
complete -c git-coop -f -n '__fish_git_coop_needs_command' -a hooks -d 'put the drain into agent clients\' settings, and see that it runs'
complete -c git-coop -n '__fish_git_coop_needs_command' -l version -f -d 'Print the version'
complete -c git-coop -n '__fish_git_coop_needs_command' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_needs_command' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at status' -l all-worktrees -f -d 'One row for each worktree of the clone'
complete -c git-coop -n '__fish_git_coop_at status' -l short -f -d 'One line for a prompt or a status bar; none where nothing waits'
complete -c git-coop -n '__fish_git_coop_at status' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at status' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at status' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at status'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a write -d 'Write the letter to the next session; it supersedes the live one'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a read -d 'Read a letter (the live one without an id), and record that it was read'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a start -d 'Say that this session works on the letter it read'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a ack -d 'Close the letter as done, with what came of it'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a abandon -d 'Close the letter without doing what it asks'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a list -d 'List the letters of this worktree, newest first'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a show -d 'Show a letter and change nothing'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a log -d 'Show the chain of letters, newest first, as git log shows commits'
complete -c git-coop -f -n '__fish_git_coop_needs_command letter' -a adopt -d 'write another store\'s letter as this worktree\'s own'
complete -c git-coop -n '__fish_git_coop_needs_command letter' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_needs_command letter' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter write' -s m -l body -x -d 'The body; several make paragraphs; \'-\' reads it from standard input'
complete -c git-coop -n '__fish_git_coop_at letter write' -s F -l file -r -F -d 'Read the body from a file; \'-\' is standard input'
complete -c git-coop -n '__fish_git_coop_at letter write' -l from-packet -r -F -d 'The body is this handoff packet, whole'
complete -c git-coop -n '__fish_git_coop_at letter write' -l subject -x -d 'A line about it (default: the body\'s first line that is not blank)'
complete -c git-coop -n '__fish_git_coop_at letter write' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at letter write' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter write' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter write' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at letter write'
complete -c git-coop -n '__fish_git_coop_at letter read' -l raw -f -d 'The body alone, byte for byte'
complete -c git-coop -n '__fish_git_coop_at letter read' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at letter read' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter read' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter read' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter read' -f -a '(__fish_git_coop_letter)'
complete -c git-coop -n '__fish_git_coop_at letter start' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at letter start' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter start' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter start' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter start' -f -a '(__fish_git_coop_live_letter)'
complete -c git-coop -n '__fish_git_coop_at letter ack' -s m -l body -x -d 'The body; several make paragraphs; \'-\' reads it from standard input'
complete -c git-coop -n '__fish_git_coop_at letter ack' -s F -l file -r -F -d 'Read the body from a file; \'-\' is standard input'
complete -c git-coop -n '__fish_git_coop_at letter ack' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at letter ack' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter ack' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter ack' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter ack' -f -a '(__fish_git_coop_live_letter)'
complete -c git-coop -n '__fish_git_coop_at letter abandon' -l reason -x -d 'Why it is not followed (needed)'
complete -c git-coop -n '__fish_git_coop_at letter abandon' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at letter abandon' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter abandon' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter abandon' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter abandon' -f -a '(__fish_git_coop_live_letter)'
complete -c git-coop -n '__fish_git_coop_at letter list' -l all -f -d 'The closed ones too'
complete -c git-coop -n '__fish_git_coop_at letter list' -l all-worktrees -f -d 'The letters of every worktree of the clone'
complete -c git-coop -n '__fish_git_coop_at letter list' -l fleet -f -d 'The letters of other clones, as the last sync brought them'
complete -c git-coop -n '__fish_git_coop_at letter list' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter list' -l grep -x -d 'Only those with a line in which this regex is found'
complete -c git-coop -n '__fish_git_coop_at letter list' -s i -f -d 'Let --grep take A and a for one'
complete -c git-coop -n '__fish_git_coop_at letter list' -l since -x -d 'Only those since a time: 2026-11-30, 3d'
complete -c git-coop -n '__fish_git_coop_at letter list' -s n -x -d 'At most so many; 0 shows none'
complete -c git-coop -n '__fish_git_coop_at letter list' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter list' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at letter list'
complete -c git-coop -n '__fish_git_coop_at letter show' -l raw -f -d 'The body alone, byte for byte'
complete -c git-coop -n '__fish_git_coop_at letter show' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter show' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter show' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter show' -f -a '(__fish_git_coop_letter)'
complete -c git-coop -n '__fish_git_coop_at letter log' -l graph -f -d 'Draw the lines that lead from each letter to what it superseded'
complete -c git-coop -n '__fish_git_coop_at letter log' -l oneline -f -d 'One line for each letter'
complete -c git-coop -n '__fish_git_coop_at letter log' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter log' -l grep -x -d 'Only those with a line in which this regex is found'
complete -c git-coop -n '__fish_git_coop_at letter log' -s i -f -d 'Let --grep take A and a for one'
complete -c git-coop -n '__fish_git_coop_at letter log' -l since -x -d 'Only those since a time: 2026-11-30, 3d'
complete -c git-coop -n '__fish_git_coop_at letter log' -s n -x -d 'At most so many; 0 shows none'
complete -c git-coop -n '__fish_git_coop_at letter log' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter log' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter log' -f -a '(__fish_git_coop_letter)'
complete -c git-coop -n '__fish_git_coop_at letter adopt' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at letter adopt' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at letter adopt' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at letter adopt' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at letter adopt' -f -x
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a send -d 'queue a message for other worktrees'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a read -d 'show what waits for this worktree, and file it'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a list -d 'list what lies in a box'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a show -d 'show one message and change nothing'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a reply -d 'answer a message'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a status -d 'count what lies in every box, and say when it was last drained'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a trace -d 'tell what became of one message that was sent from here'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a sent -d 'list what was sent from here and what became of it'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a requeue -d 'queue a stranded or expired message again'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a off -d 'hold delivery in the whole clone'
complete -c git-coop -f -n '__fish_git_coop_needs_command mail' -a on -d 'deliver again'
complete -c git-coop -n '__fish_git_coop_needs_command mail' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_needs_command mail' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at mail send' -l to -x -a '(__fish_git_coop_peer)' -d 'A worktree (needed, repeatable), or \'all\': every other'
complete -c git-coop -n '__fish_git_coop_at mail send' -s m -l body -x -d 'The body; several make paragraphs; \'-\' reads it from standard input'
complete -c git-coop -n '__fish_git_coop_at mail send' -s F -l file -r -F -d 'Read the body from a file; \'-\' is standard input'
complete -c git-coop -n '__fish_git_coop_at mail send' -l from-packet -r -F -d 'The body is this handoff packet, whole'
complete -c git-coop -n '__fish_git_coop_at mail send' -l subject -x -d 'A line about it'
complete -c git-coop -n '__fish_git_coop_at mail send' -l kind -x -d 'A label of up to 16 characters; it changes nothing'
complete -c git-coop -n '__fish_git_coop_at mail send' -l ttl -x -d 'How long it waits: minutes, 90m, 36h, 3d (default: coop.ttl)'
complete -c git-coop -n '__fish_git_coop_at mail send' -l to-session -x -d 'Show it to this session only; the address stays the path'
complete -c git-coop -n '__fish_git_coop_at mail send' -l in-reply-to -x -a '(__fish_git_coop_message)' -d 'The message that this one answers'
complete -c git-coop -n '__fish_git_coop_at mail send' -l outside -f -d 'The path may be a directory in no repository'
complete -c git-coop -n '__fish_git_coop_at mail send' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at mail send' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail send' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail send' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at mail send'
complete -c git-coop -n '__fish_git_coop_at mail read' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at mail read' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail read' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail read' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at mail read'
complete -c git-coop -n '__fish_git_coop_at mail list' -l state -x -a 'inbox seen expired stranded' -d 'Only this state: inbox, stranded, seen or expired'
complete -c git-coop -n '__fish_git_coop_at mail list' -l all -f -d 'What was seen and what expired too'
complete -c git-coop -n '__fish_git_coop_at mail list' -l box -x -a '(__fish_git_coop_worktree)' -d 'Look in this worktree\'s box (a path, also a former one, or a key)'
complete -c git-coop -n '__fish_git_coop_at mail list' -l all-worktrees -f -d 'The boxes of every worktree of the clone'
complete -c git-coop -n '__fish_git_coop_at mail list' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail list' -l grep -x -d 'Only those with a subject, first line, sender\'s path or kind in which this regex is found'
complete -c git-coop -n '__fish_git_coop_at mail list' -s i -f -d 'Let --grep take A and a for one'
complete -c git-coop -n '__fish_git_coop_at mail list' -l since -x -d 'Only those since a time: 2026-11-30, 3d'
complete -c git-coop -n '__fish_git_coop_at mail list' -s n -x -d 'At most so many; 0 shows none'
complete -c git-coop -n '__fish_git_coop_at mail list' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail list' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at mail list'
complete -c git-coop -n '__fish_git_coop_at mail show' -l raw -f -d 'The message\'s file, byte for byte'
complete -c git-coop -n '__fish_git_coop_at mail show' -l box -x -a '(__fish_git_coop_worktree)' -d 'Look in this worktree\'s box (a path, also a former one, or a key)'
complete -c git-coop -n '__fish_git_coop_at mail show' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail show' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail show' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at mail show' -f -a '(__fish_git_coop_message)'
complete -c git-coop -n '__fish_git_coop_at mail reply' -s m -l body -x -d 'The body; several make paragraphs; \'-\' reads it from standard input'
complete -c git-coop -n '__fish_git_coop_at mail reply' -s F -l file -r -F -d 'Read the body from a file; \'-\' is standard input'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l from-packet -r -F -d 'The body is this handoff packet, whole'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l subject -x -d 'A line about it'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l kind -x -d 'A label of up to 16 characters; it changes nothing'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l ttl -x -d 'How long it waits: minutes, 90m, 36h, 3d (default: coop.ttl)'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l to-session -x -d 'Show it to this session only; the address stays the path'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l box -x -a '(__fish_git_coop_worktree)' -d 'Look in this worktree\'s box (a path, also a former one, or a key)'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail reply' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail reply' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at mail reply' -f -a '(__fish_git_coop_message)'
complete -c git-coop -n '__fish_git_coop_at mail status' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail status' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail status' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at mail status'
complete -c git-coop -n '__fish_git_coop_at mail trace' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail trace' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail trace' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at mail trace' -f -a '(__fish_git_coop_sent_message)'
complete -c git-coop -n '__fish_git_coop_at mail sent' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail sent' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail sent' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at mail sent'
complete -c git-coop -n '__fish_git_coop_at mail requeue' -l to -x -a '(__fish_git_coop_peer)' -d 'A worktree of this clone: where it is to wait now'
complete -c git-coop -n '__fish_git_coop_at mail requeue' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail requeue' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail requeue' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at mail requeue' -f -a '(__fish_git_coop_undelivered_message)'
complete -c git-coop -n '__fish_git_coop_at mail off' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail off' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail off' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at mail off'
complete -c git-coop -n '__fish_git_coop_at mail on' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at mail on' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at mail on' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at mail on'
complete -c git-coop -f -n '__fish_git_coop_needs_command handoff' -a write -d 'Write a packet, and print how to read it (a result that is not bulky is printed itself)'
complete -c git-coop -f -n '__fish_git_coop_needs_command handoff' -a read -d 'Print a packet, and what to do with one of its type'
complete -c git-coop -f -n '__fish_git_coop_needs_command handoff' -a check -d 'Judge a packet, a file\'s or standard input\'s: name what is missing, and exit 1 where anything is'
complete -c git-coop -f -n '__fish_git_coop_needs_command handoff' -a template -d 'Print the template of a packet: each section with one line of guidance, which the text replaces'
complete -c git-coop -n '__fish_git_coop_needs_command handoff' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_needs_command handoff' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at handoff write' -s m -l body -x -d 'The packet; \'-\' reads standard input'
complete -c git-coop -n '__fish_git_coop_at handoff write' -s F -r -F -d 'Read the packet from a file; \'-\' is standard input'
complete -c git-coop -n '__fish_git_coop_at handoff write' -l file -r -F -d 'The output: this file, which must not exist yet'
complete -c git-coop -n '__fish_git_coop_at handoff write' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at handoff write' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at handoff write' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at handoff write' -f -a 'brief result continuation'
complete -c git-coop -n '__fish_git_coop_at handoff read' -l raw -f -d 'The packet alone, byte for byte'
complete -c git-coop -n '__fish_git_coop_at handoff read' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at handoff read' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at handoff read' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at handoff read' -F
complete -c git-coop -n '__fish_git_coop_at handoff check' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at handoff check' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at handoff check' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at handoff check' -F
complete -c git-coop -n '__fish_git_coop_at handoff template' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at handoff template' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at handoff template' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at handoff template' -f -a 'brief result continuation'
complete -c git-coop -f -n '__fish_git_coop_needs_command todo' -a add -d 'Add a todo: one line, whose words need no quotes'
complete -c git-coop -f -n '__fish_git_coop_needs_command todo' -a list -d 'List the todos of this worktree, oldest first; exit 1 where a record cannot be read'
complete -c git-coop -f -n '__fish_git_coop_needs_command todo' -a done -d 'Mark a todo done, and name the live letter that mentions it'
complete -c git-coop -f -n '__fish_git_coop_needs_command todo' -a reopen -d 'Open a todo again that was done'
complete -c git-coop -n '__fish_git_coop_needs_command todo' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_needs_command todo' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at todo add' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at todo add' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at todo add' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at todo add' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at todo add' -f -x
complete -c git-coop -n '__fish_git_coop_at todo list' -l all -f -d 'The done ones too'
complete -c git-coop -n '__fish_git_coop_at todo list' -l all-worktrees -f -d 'The todos of every worktree of the clone'
complete -c git-coop -n '__fish_git_coop_at todo list' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at todo list' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at todo list' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at todo list'
complete -c git-coop -n '__fish_git_coop_at todo done' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at todo done' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at todo done' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at todo done' -f -a '(__fish_git_coop_open_todo)'
complete -c git-coop -n '__fish_git_coop_at todo reopen' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at todo reopen' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at todo reopen' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at todo reopen' -f -a '(__fish_git_coop_done_todo)'
complete -c git-coop -f -n '__fish_git_coop_needs_command request' -a open -d 'Ask a worktree of this clone for work: its session is mailed the brief'
complete -c git-coop -f -n '__fish_git_coop_needs_command request' -a close -d 'Answer a request with its result: the worktree that asked is mailed it'
complete -c git-coop -f -n '__fish_git_coop_needs_command request' -a list -d 'List the requests to and from this worktree, oldest first; exit 1 where a record cannot be read'
complete -c git-coop -f -n '__fish_git_coop_needs_command request' -a show -d 'Show a request, its brief, and its result where it has one'
complete -c git-coop -n '__fish_git_coop_needs_command request' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_needs_command request' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at request open' -l to -x -a '(__fish_git_coop_peer)' -d 'The worktree that is asked (needed)'
complete -c git-coop -n '__fish_git_coop_at request open' -s m -l body -x -d 'The body; several make paragraphs; \'-\' reads it from standard input'
complete -c git-coop -n '__fish_git_coop_at request open' -s F -l file -r -F -d 'Read the body from a file; \'-\' is standard input'
complete -c git-coop -n '__fish_git_coop_at request open' -l from-packet -r -F -d 'The body is this handoff packet, whole'
complete -c git-coop -n '__fish_git_coop_at request open' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at request open' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at request open' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at request open' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at request open'
complete -c git-coop -n '__fish_git_coop_at request close' -s m -l body -x -d 'The body; several make paragraphs; \'-\' reads it from standard input'
complete -c git-coop -n '__fish_git_coop_at request close' -s F -l file -r -F -d 'Read the body from a file; \'-\' is standard input'
complete -c git-coop -n '__fish_git_coop_at request close' -l from-packet -r -F -d 'The body is this handoff packet, whole'
complete -c git-coop -n '__fish_git_coop_at request close' -l session -x -d 'The calling session, where its client does not say'
complete -c git-coop -n '__fish_git_coop_at request close' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at request close' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at request close' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at request close' -f -a '(__fish_git_coop_open_request)'
complete -c git-coop -n '__fish_git_coop_at request list' -l all -f -d 'The closed ones too'
complete -c git-coop -n '__fish_git_coop_at request list' -l all-worktrees -f -d 'The requests of every worktree of the clone'
complete -c git-coop -n '__fish_git_coop_at request list' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at request list' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at request list' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at request list'
complete -c git-coop -n '__fish_git_coop_at request show' -l brief -f -d 'The brief alone, byte for byte'
complete -c git-coop -n '__fish_git_coop_at request show' -l result -f -d 'The result alone, byte for byte'
complete -c git-coop -n '__fish_git_coop_at request show' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at request show' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at request show' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at request show' -f -a '(__fish_git_coop_request)'
complete -c git-coop -n '__fish_git_coop_at sync' -l dry-run -f -d 'Say what would be sent, and write nothing'
complete -c git-coop -n '__fish_git_coop_at sync' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at sync' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at sync' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at sync'
complete -c git-coop -n '__fish_git_coop_at backup' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at backup' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at backup' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at backup' -F
complete -c git-coop -n '__fish_git_coop_at restore' -l merge -f -d 'Take the records as another store\'s, which can be adopted'
complete -c git-coop -n '__fish_git_coop_at restore' -l map -x -d 'The worktree that a box belongs to now'
complete -c git-coop -n '__fish_git_coop_at restore' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at restore' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at restore' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at restore' -F
complete -c git-coop -n '__fish_git_coop_at drain' -l event -x -a 'start prompt stop' -d 'start, prompt (the default) or stop'
complete -c git-coop -n '__fish_git_coop_at drain' -l client -x -a 'claude codex gemini cursor copilot opencode' -d 'The client whose payload is on standard input'
complete -c git-coop -n '__fish_git_coop_at drain' -l session -x -d 'The session that is shown mail; its client says it otherwise'
complete -c git-coop -n '__fish_git_coop_at drain' -l cwd -x -a '(__fish_complete_directories)' -d 'Where the session works, in place of the payload\'s directory'
complete -c git-coop -n '__fish_git_coop_at drain' -l anchor -x -a '(__fish_complete_directories)' -d 'The repository to read for a session outside any'
complete -c git-coop -n '__fish_git_coop_at drain' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at drain' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at drain'
complete -c git-coop -n '__fish_git_coop_at watch' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at watch' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at watch'
complete -c git-coop -n '__fish_git_coop_at doctor' -l fix -f -d 'Mend what needs no person, and say what was done'
complete -c git-coop -n '__fish_git_coop_at doctor' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at doctor' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at doctor' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at doctor'
complete -c git-coop -n '__fish_git_coop_at gc' -l dry-run -f -d 'Say what would be removed, and remove nothing'
complete -c git-coop -n '__fish_git_coop_at gc' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at gc' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at gc' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at gc'
complete -c git-coop -f -n '__fish_git_coop_needs_command hooks' -a install -d 'Put the hooks into a client\'s settings; without a client, list those that are here'
complete -c git-coop -f -n '__fish_git_coop_needs_command hooks' -a uninstall -d 'Take the hooks out of a client\'s settings: of one scope, or of every one'
complete -c git-coop -f -n '__fish_git_coop_needs_command hooks' -a status -d 'Where the hooks are installed, whether they can run, and when each ran last in this worktree'
complete -c git-coop -f -n '__fish_git_coop_needs_command hooks' -a show -d 'Print what installing writes into an empty file'
complete -c git-coop -f -n '__fish_git_coop_needs_command hooks' -a instructions -d 'Print a text for an agents\' instruction file: when to leave a letter, how to mail a peer'
complete -c git-coop -n '__fish_git_coop_needs_command hooks' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_needs_command hooks' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at hooks install' -l user -f -d 'Write to your own settings, for every worktree (default)'
complete -c git-coop -n '__fish_git_coop_at hooks install' -l project -f -d 'Write to the worktree\'s settings, which others share'
complete -c git-coop -n '__fish_git_coop_at hooks install' -l local -f -d 'Write to your own settings for this worktree'
complete -c git-coop -n '__fish_git_coop_at hooks install' -l dry-run -f -d 'Show the change as a diff and write nothing'
complete -c git-coop -n '__fish_git_coop_at hooks install' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at hooks install' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at hooks install' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at hooks install' -f -a 'claude codex gemini cursor copilot opencode'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -l user -f -d 'Only from your own settings, for every worktree (default: from all three)'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -l project -f -d 'Only from the worktree\'s settings, which others share'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -l local -f -d 'Only from your own settings for this worktree'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -l dry-run -f -d 'Show the change as a diff and write nothing'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at hooks uninstall' -f -a 'claude codex gemini cursor copilot opencode'
complete -c git-coop -n '__fish_git_coop_at hooks status' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at hooks status' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at hooks status' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at hooks status'
complete -c git-coop -n '__fish_git_coop_at hooks show' -l user -f -d 'For your own settings, for every worktree (default)'
complete -c git-coop -n '__fish_git_coop_at hooks show' -l project -f -d 'For the worktree\'s settings, which others share'
complete -c git-coop -n '__fish_git_coop_at hooks show' -l local -f -d 'For your own settings for this worktree'
complete -c git-coop -n '__fish_git_coop_at hooks show' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at hooks show' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at hooks show' -l help -f -d 'Open the manual page'
complete -c git-coop -n '__fish_git_coop_at hooks show' -f -a 'claude codex gemini cursor copilot opencode'
complete -c git-coop -n '__fish_git_coop_at hooks instructions' -l json -f -d 'Answer with one JSON object'
complete -c git-coop -n '__fish_git_coop_at hooks instructions' -s h -f -d 'Print the usage'
complete -c git-coop -n '__fish_git_coop_at hooks instructions' -l help -f -d 'Open the manual page'
complete -c git-coop -f -n '__fish_git_coop_at hooks instructions'
complete -c git-coop -n '__fish_git_coop_at help' -f -a 'status letter mail handoff todo request sync backup restore drain watch doctor gc hooks'
# The table ends here
