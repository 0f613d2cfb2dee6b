// Command describe finishes the OpenAPI description, in its file: it puts the examples of
// api/examples into it and makes it one of OpenAPI 3.1. What stands there already stays as it
// is, and so do the order and the layout of the text.
//
//	go run ./cmd/describe api/openapi.json
package main

import (
	"fmt"
	"os"

	"github.com/slipway-qa/slipway/api/description"
	"github.com/slipway-qa/slipway/api/examples"
)

func main() {
	if err := describe(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "describe:", err)
		os.Exit(1)
	}
}

func describe(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: describe FILE")
	}
	name := arguments[0]
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	document, err := description.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := examples.Add(document); err != nil {
		return err
	}
	description.Modernize(document)
	return os.WriteFile(name, document.Text(), 0o644)
}
