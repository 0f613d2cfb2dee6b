package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// completionCommand is `completion`: the shell asks the program itself what fits, so that a
// script does not grow old.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Offline says that it needs no server.
func (*completionCommand) Offline() {}

// completions are the scripts by shell. PROGRAM is the program's name.
var completions = map[string]string{
	"bash": `_PROGRAM() {
  local IFS=$'\n'
  COMPREPLY=($(PROGRAM complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _PROGRAM PROGRAM
`,
	"zsh": `#compdef PROGRAM
_PROGRAM() {
  local -a found
  found=("${(@f)$(PROGRAM complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _PROGRAM PROGRAM
`,
	"fish": `function __PROGRAM
  set -l words (commandline -opc) (commandline -ct)
  PROGRAM complete -- $words[2..-1] 2>/dev/null
end
complete -c PROGRAM -a '(__PROGRAM)'
`,
}

// Run prints the script of a shell.
func (c *completionCommand) Run(s *Session) error {
	if strings.Contains(s.World.Name, " ") {
		return outcome.Fail(outcome.Misused, "the shell completes slipway-ci; %q has no completion of its own", s.World.Name)
	}
	_, err := fmt.Fprint(s.World.Out, strings.ReplaceAll(completions[c.Shell], "PROGRAM", s.World.Name))
	return err
}

// completeCommand is what the scripts call: it prints what may stand in place of the last word.
type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Offline says that it needs no server.
func (*completeCommand) Offline() {}

// Run prints the words, one a line.
func (c *completeCommand) Run(s *Session, of *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, word := range complete(of.Model.Node, words) {
		fmt.Fprintln(s.World.Out, word)
	}
	return nil
}

// complete returns what may stand in place of the last word: flags after a dash, the values of
// a flag that has few, and commands. Nothing leaves it to the shell, which completes files.
func complete(node *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	flags := slices.Clone(node.Flags)
	for _, word := range before {
		at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return !n.Hidden && n.Name == word })
		if at >= 0 {
			node = node.Children[at]
			flags = append(flags, node.Flags...)
		}
	}
	var found []string
	offer := func(word string) {
		if strings.HasPrefix(word, last) {
			found = append(found, word)
		}
	}
	if len(before) > 0 {
		if flag := flagOf(flags, before[len(before)-1]); flag != nil && !flag.IsBool() {
			for _, value := range enumOf(flag) {
				offer(value)
			}
			return found
		}
	}
	if strings.HasPrefix(last, "-") {
		for _, flag := range flags {
			if !flag.Hidden {
				offer("--" + flag.Name)
			}
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	for _, child := range node.Children {
		if !child.Hidden {
			offer(child.Name)
		}
	}
	for _, argument := range node.Positional {
		if argument.Enum != "" {
			for _, value := range argument.EnumSlice() {
				offer(value)
			}
		}
	}
	return found
}

func flagOf(flags []*kong.Flag, word string) *kong.Flag {
	for _, flag := range flags {
		if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
			return flag
		}
	}
	return nil
}

func enumOf(flag *kong.Flag) []string {
	if flag.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(flag.EnumSlice(), func(s string) bool { return s == "" })
}
