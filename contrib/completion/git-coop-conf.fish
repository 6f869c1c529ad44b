# Completion of `git coop` for fish, installed as share/fish/vendor_conf.d/git-coop.fish.
#
# fish's completion of git hands the commands that are programs of their own to these programs' completion. Some
# versions of it (3.6 is one) look for `git git-coop` where `git coop` is typed; this line asks for the right one.
complete -c git -f -n '__fish_git_using_command coop' -a '(__fish_git_complete_custom_command coop)'
