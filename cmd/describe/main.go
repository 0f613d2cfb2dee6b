// Command describe writes api/openapi.json, the description of the api, from the code.
//
// What the code knows comes from it: which routes there are, who may call them, which are
// of a former version, the failures that every route of a kind has, and the schemas of the
// Go types that a room names in its Types. What only a person can say stands in a file
// openapi.yaml beside the handlers: summaries, descriptions, parameters, bounds, and what
// a request must have. A fragment completes what comes from code. It cannot name another type,
// a member or a value that a type has not, or a way of authentication that a route has not, nor
// say what is deprecated; what it says of formats, of null and of failures is believed.
// The examples of package api/examples are put into what comes of both, which is of OpenAPI
// 3.1: package api/description makes it that.
//
//	go run ./cmd/describe api/openapi.json
//	go run ./cmd/describe --code
//
// The first writes the file. The second prints what the code alone says, by which one sees
// what a fragment need not say. `make openapi` runs the first; a test fails when the file
// is not what it writes.
//
// It fails, and writes nothing, when a route has no operation or an operation no route,
// when a fragment contradicts the code in what it cannot say, and when the result is no valid
// description.
package main

import (
	"fmt"
	"io/fs"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "describe:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: describe FILE, or describe --code, in the root folder")
	}
	source := os.DirFS(".")
	if arguments[0] == "--code" {
		text, err := codeAlone()
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(text)
		return err
	}
	text, err := describe(source)
	if err != nil {
		return err
	}
	return replace(arguments[0], text)
}

// replace writes a file as a whole, or not at all.
func replace(name string, content []byte) error {
	const mode fs.FileMode = 0o644
	if err := os.WriteFile(name+".new", content, mode); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
