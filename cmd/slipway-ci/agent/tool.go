package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool describes a tool. Its name is in lower case with _.
type tool struct {
	name, title, description string
	write                    Write // "": it reads
	// repeatable changes have no further effect when they are called again.
	repeatable bool
	// overwrites says that what was there before is replaced.
	overwrites bool
	// outside tools have an effect on other systems: a browser opens a page.
	outside bool
	// longest are arguments with another bound than shortText, in characters, or elements
	// of an array.
	longest map[string]int
}

const (
	shortText = 500 // characters of an argument
	fewItems  = 20  // elements of an argument
)

// add adds a tool; handle returns the answer, which becomes JSON. Arguments that break the
// schema do not reach it.
func add[In any](s *server, t tool, handle func(ctx context.Context, in In) (any, error)) {
	if t.write != "" && !slices.Contains(s.cfg.Writes, t.write) {
		s.refused[t.name] = t.write
		return
	}
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", t.name, err)) // a type of this package
	}
	bound(schema, t.longest)
	reads := t.write == ""
	s.changes[t.name] = !reads
	overwrites := t.overwrites
	outside := t.outside
	mcp.AddTool(s.mcp, &mcp.Tool{Name: t.name, Title: t.title, Description: t.description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: reads, IdempotentHint: reads || t.repeatable,
			DestructiveHint: &overwrites, OpenWorldHint: &outside}},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			answer, err := handle(ctx, in)
			if err != nil {
				return nil, nil, explain(err)
			}
			result, err := resultOf(answer)
			return result, nil, err
		})
}

// bound sets the bounds of arguments.
func bound(schema *jsonschema.Schema, longest map[string]int) {
	for name, argument := range schema.Properties {
		most, given := longest[name]
		switch {
		case slices.Contains(append(argument.Types, argument.Type), "array"):
			if !given {
				most = fewItems
			}
			argument.MaxItems = &most
			if argument.Items != nil && argument.Items.Type == "string" {
				text := shortText
				argument.Items.MaxLength = &text
			}
		case argument.Type == "string":
			if !given {
				most = shortText
			}
			argument.MaxLength = &most
		}
	}
}

// pictured is an answer with a picture beside it.
type pictured struct {
	answer any
	kind   string // its media type
	bytes  []byte
}

func resultOf(answer any) (*mcp.CallToolResult, error) {
	picture, _ := answer.(*pictured)
	if picture != nil {
		answer = picture.answer
	}
	text, err := fit(answer)
	if err != nil {
		return nil, err
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	if picture != nil && len(picture.bytes) > 0 {
		result.Content = append(result.Content, &mcp.ImageContent{MIMEType: picture.kind, Data: picture.bytes})
	}
	return result, nil
}
