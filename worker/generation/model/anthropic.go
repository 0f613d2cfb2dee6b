package model

import (
	"encoding/json"
	"errors"
	"strings"
)

// anthropicVersion is that of the format; models do not depend on it.
const anthropicVersion = "2023-06-01"

// anthropicFormat is that of messages.
type anthropicFormat struct{}

func (anthropicFormat) path(base string) string {
	if strings.HasSuffix(base, "/v1") {
		return base + "/messages"
	}
	return base + "/v1/messages"
}

func (anthropicFormat) headers(key string) [][2]string {
	list := [][2]string{{"Anthropic-Version", anthropicVersion}}
	if key != "" {
		list = append(list, [2]string{"X-Api-Key", key})
	}
	return list
}

func (anthropicFormat) optional() []string { return []string{toolChoice} }

func (anthropicFormat) failure(body []byte) string { return failureText(body) }

type anthropicMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type anthropicText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type anthropicResult struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   string `json:"content"`
	IsError   bool   `json:"is_error,omitempty"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func (anthropicFormat) encode(cfg *Config, r *Request, without map[string]bool) ([]byte, error) {
	body := map[string]any{"model": cfg.Model, "max_tokens": cfg.MaxOutput, "stream": false, "system": r.System}
	tools := make([]anthropicTool, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = anthropicTool{t.Name, t.Description, t.Schema}
	}
	if len(tools) > 0 {
		body["tools"] = tools
		if !without[toolChoice] {
			body[toolChoice] = map[string]string{"type": "any"}
		}
	}
	messages := make([]anthropicMessage, 0, len(r.Messages))
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Reply != nil {
			messages = append(messages, anthropicMessage{"assistant", m.Reply.raw})
			continue
		}
		content := []any{} // results first, as the format wants it
		for _, result := range m.Results {
			content = append(content, anthropicResult{"tool_result", result.ID, result.Text, result.Error})
		}
		if m.Text != "" {
			content = append(content, anthropicText{"text", m.Text})
		}
		messages = append(messages, anthropicMessage{"user", content})
	}
	body["messages"] = messages
	return json.Marshal(body)
}

type anthropicUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

func (u anthropicUsage) tokens() TokenUsage {
	return TokenUsage{Input: u.Input + u.CacheWrite + u.CacheRead, Output: u.Output}
}

func (anthropicFormat) decode(body []byte) (*Reply, error) {
	var answer struct {
		Type       string            `json:"type"`
		Content    []json.RawMessage `json:"content"`
		StopReason string            `json:"stop_reason"`
		Usage      anthropicUsage    `json:"usage"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Type == "error":
		return nil, &streamFailure{failureText(body)}
	case answer.Type != "message":
		return nil, errors.New("no message")
	}
	return anthropicReply(answer.Content, answer.StopReason, answer.Usage)
}

// anthropicReply reads content blocks. They are kept as they came: blocks of thinking
// must come back unchanged.
func anthropicReply(content []json.RawMessage, stop string, usage anthropicUsage) (*Reply, error) {
	reply := &Reply{Stop: Stopped, Usage: usage.tokens()}
	for i, raw := range content {
		var block struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(raw, &block); err != nil {
			return nil, err
		}
		switch block.Type {
		case "text":
			reply.Text += block.Text
		case "tool_use":
			if block.ID == "" {
				return nil, errors.New("a call of a tool without an id")
			}
			reply.Calls = append(reply.Calls, ToolCall{ID: block.ID, Name: block.Name, Arguments: block.Input})
			if !isObject(block.Input) || block.Name != safeName(block.Name) { // the service would refuse it
				fixed, err := json.Marshal(map[string]any{"type": "tool_use", "id": block.ID, "name": safeName(block.Name), "input": struct{}{}})
				if err != nil {
					return nil, err
				}
				content[i] = fixed
			}
		}
	}
	switch stop {
	case "refusal":
		reply.Stop = Refused
	case "max_tokens", "model_context_window_exceeded":
		reply.Stop = Cut
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	reply.raw = raw
	return reply, nil
}

func isObject(text json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(text, &object) == nil && object != nil
}

// anthropicStream puts events together.
type anthropicStream struct {
	blocks []anthropicBlock
	stop   string
	usage  anthropicUsage
	ended  bool
}

// anthropicBlock is a content block whose parts still come.
type anthropicBlock struct {
	index int
	start map[string]json.RawMessage
	parts map[string]*strings.Builder // by the member that they belong to
	open  bool
}

func (anthropicFormat) stream() streamReader { return &anthropicStream{} }

func (s *anthropicStream) event(data []byte) (bool, error) {
	var e struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			Usage anthropicUsage `json:"usage"`
		} `json:"message"`
		Block map[string]json.RawMessage `json:"content_block"`
		Delta map[string]json.RawMessage `json:"delta"`
		Usage *anthropicUsage            `json:"usage"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "error":
		return false, &streamFailure{failureText(data)}
	case "message_start":
		s.usage = e.Message.Usage
	case "content_block_start":
		if len(s.blocks) >= maxStreamCalls {
			return false, errors.New("too many content blocks")
		}
		s.blocks = append(s.blocks, anthropicBlock{index: e.Index, start: e.Block, parts: map[string]*strings.Builder{}, open: true})
	case "content_block_delta":
		s.block(e.Index).add(e.Delta)
	case "content_block_stop":
		s.block(e.Index).open = false
	case "message_delta":
		s.stop = text(e.Delta["stop_reason"])
		if e.Usage != nil {
			s.usage.Output = e.Usage.Output
			s.usage.Input = max(s.usage.Input, e.Usage.Input)
		}
	case "message_stop":
		s.ended = true
		return true, nil
	}
	return false, nil // pings, and kinds of later versions
}

// block returns the open block of an index; one that nobody reads when there is none.
func (s *anthropicStream) block(index int) *anthropicBlock {
	for i := range s.blocks {
		if s.blocks[i].index == index {
			return &s.blocks[i]
		}
	}
	return &anthropicBlock{parts: map[string]*strings.Builder{}}
}

// add appends a delta to the member that it belongs to.
func (b *anthropicBlock) add(delta map[string]json.RawMessage) {
	member := map[string]string{"text_delta": "text", "input_json_delta": "partial_json",
		"thinking_delta": "thinking", "signature_delta": "signature"}[text(delta["type"])]
	if member == "" {
		return
	}
	if b.parts[member] == nil {
		b.parts[member] = &strings.Builder{}
	}
	b.parts[member].WriteString(text(delta[member]))
}

// content returns the block as a message that is no stream has it.
func (b *anthropicBlock) content() (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for name, value := range b.start {
		out[name] = value
	}
	for member, part := range b.parts {
		if member == "partial_json" {
			out["input"] = json.RawMessage(part.String())
			if !json.Valid(out["input"]) {
				out["input"] = json.RawMessage("null")
			}
			continue
		}
		value, err := json.Marshal(part.String())
		if err != nil {
			return nil, err
		}
		out[member] = value
	}
	return json.Marshal(out)
}

// reply returns the message when its end came.
func (s *anthropicStream) reply() (*Reply, error) {
	if !s.ended {
		return nil, errStreamEnded
	}
	content := make([]json.RawMessage, 0, len(s.blocks))
	for i := range s.blocks {
		raw, err := s.blocks[i].content()
		if err != nil {
			return nil, err
		}
		content = append(content, raw)
	}
	return anthropicReply(content, s.stop, s.usage)
}

// text returns a JSON string's text; "" for anything else.
func text(raw json.RawMessage) string {
	var out string
	if json.Unmarshal(raw, &out) != nil {
		return ""
	}
	return out
}
