package model

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"
)

// Tool is one that the model can call.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON schema of its arguments: an object.
	Schema json.RawMessage
}

// Message is one of a conversation, which begins with the user and alternates. One of
// the assistant came as a Reply.
type Message struct {
	Reply *Reply // of the assistant; nil: of the user
	// Results are those of all calls of the message before.
	Results []ToolResult
	Text    string
}

// ToolResult is what came of a call.
type ToolResult struct {
	ID    string
	Text  string
	Error bool
}

// ToolCall is a call of a tool.
type ToolCall struct {
	ID   string
	Name string
	// Arguments are those that came, whatever they are: they may be no JSON at all.
	Arguments json.RawMessage
}

// safeName returns the name of a called tool as both formats take it back: a model may
// call one by any name, and a service refuses a conversation with it.
func safeName(name string) string {
	const longest = 64
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(name[:min(len(name), longest)], "_")
}

// Stop is why a message ended.
type Stop string

// Why a message ended.
const (
	Stopped Stop = "stop"   // with or without calls
	Cut     Stop = "length" // by the number of tokens: the last call may be incomplete
	Refused Stop = "refusal"
)

// Reply is a message of the model.
type Reply struct {
	Text  string
	Calls []ToolCall
	Stop  Stop
	Usage TokenUsage
	// raw is the content as it came, for the formats that want it back unchanged.
	raw json.RawMessage
}

// TokenUsage is how much was sent and received.
type TokenUsage struct {
	Input, Output int
}

// Request is a conversation whose next message is wanted.
type Request struct {
	System   string
	Messages []Message
	Tools    []Tool
}

// format is a wire format.
type format interface {
	// path returns the path of the endpoint below that of the base URL.
	path(base string) string
	// headers returns the name and value of each header that the format needs.
	headers(key string) [][2]string
	// encode returns the body of a request. without are parameters to leave out.
	encode(cfg *Config, r *Request, without map[string]bool) ([]byte, error)
	// optional are the parameters that a service may refuse and a request can be
	// without.
	optional() []string
	// decode reads a body.
	decode(body []byte) (*Reply, error)
	// stream reads the data of one event. done is set after the last one.
	stream() streamReader
	// failure returns the text of an error's body.
	failure(body []byte) string
}

// streamReader puts a message together out of the events of a stream.
type streamReader interface {
	// event reads one; done is set when it was the last.
	event(data []byte) (done bool, err error)
	// reply returns the message, once it is complete.
	reply() (*Reply, error)
}
