// Package usage explains a command line that could not be read, for slipway and slipway-ci: what
// was most likely meant, and where the right names are.
//
// Names are compared by the letters to change (nearest.go). A word that is near to nothing gets
// no guess: a wrong guess is worse than none. The text names the command whose help to read; it
// never repeats a value, which may be a secret.
package usage

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// misreadWord finds what a line could not be read for.
var misreadWord = regexp.MustCompile(`^(?:unknown flag --|unexpected argument )([A-Za-z0-9._-]+)$`)

// Misread is the text of an error of the command line: with the name that was most likely
// meant, and where the right ones are.
func Misread(err error) string {
	text := err.Error()
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) {
		return text
	}
	if word := misreadWord.FindStringSubmatch(text); word != nil {
		dashes := ""
		if strings.HasPrefix(text, "unknown flag") {
			dashes = "--"
		}
		if near := Nearest(word[1], namesFor(wrong.Context, dashes != "")); near != "" {
			text += fmt.Sprintf(", did you mean %q?", dashes+near)
		}
	}
	command := wrong.Context.Model.Name
	if node := wrong.Context.Selected(); node != nil {
		command = node.FullPath()
	}
	return text + "\nRun \"" + command + " --help\" for what it takes."
}

// namesFor are the flags, or the commands, that could stand where a line went wrong.
func namesFor(ctx *kong.Context, flags bool) []string {
	var names []string
	if flags {
		for _, flag := range ctx.Flags() {
			names = append(names, flag.Name)
		}
		return names
	}
	node := ctx.Model.Node
	for _, step := range ctx.Path {
		if step.Command != nil {
			node = step.Command
		}
	}
	for _, child := range node.Children {
		names = append(names, child.Name)
	}
	return names
}
