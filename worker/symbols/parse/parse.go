// Package parse is what child processes do with files from outside: it recognises them by
// their content, unpacks archives, and turns symbol files into indexes.
//
// Operations is the table that a child serves (package child). The types of arguments and
// results are those of the parent too. Files come and go as paths of temporary files; what
// a file is called outside is a text in rows and never a path here.
//
// Unpack lists what is in an upload: the file itself, or the members of a zip, tar or
// compressed file, one level deep. Each member that is a symbol file becomes a temporary
// file with its digest; what is none is counted. Index reads one member, of a fat Mach-O one
// architecture, into an index. Dump reads a crash dump. A member that cannot be unpacked has the reason and does
// not keep the others from being read; an archive that cannot be read on, or that
// grows beyond its bounds, is what it is up to there, with the reason.
package parse

import (
	"os"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/tasks/child"
)

// Names of the operations.
const (
	Unpack = "unpack"
	Index  = "index"
	Dump   = "dump"
)

// Operations returns what a child can do.
func Operations() map[string]child.Operation {
	return map[string]child.Operation{
		Unpack: child.Typed(unpack),
		Index:  child.Typed(index),
		Dump:   child.Typed(readDump),
	}
}

// Run is the main function of a child.
func Run(args []string) int { return child.Serve(args, Operations()) }

// RunChild ends the process with the exit code of a child when it was started as one. The
// main functions of tests call it first.
func RunChild() {
	if child.IsChild(os.Args[1:]) {
		os.Exit(Run(os.Args[1:]))
	}
}

// Problem is what is wrong with a file: the content of a *symbol.InvalidError.
type Problem struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

func problem(code, reason string) *Problem { return &Problem{Code: code, Reason: reason} }

func problemOf(e *symbol.InvalidError) *Problem { return problem(e.Code, e.Reason) }
