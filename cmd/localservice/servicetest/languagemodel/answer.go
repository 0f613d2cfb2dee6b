package languagemodel

import (
	"encoding/json"
	"fmt"
)

// The tokens that each message says it used.
const (
	InputTokens  = 1000
	OutputTokens = 50
)

func (c *Call) argumentText() string {
	if c.ArgumentText != "" {
		return c.ArgumentText
	}
	if c.Arguments == nil {
		return "{}"
	}
	return toJSON(c.Arguments)
}

func toJSON(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err) // the test's own data
	}
	return string(out)
}

func openAIMessage(a *Answer) any {
	message := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	finish := "stop"
	if a.Text != "" {
		message["content"] = a.Text
	}
	if len(a.Calls) > 0 {
		finish = "tool_calls"
		var calls []any
		for i := range a.Calls {
			calls = append(calls, map[string]any{"id": a.Calls[i].ID, "type": "function",
				"function": map[string]any{"name": a.Calls[i].Name, "arguments": a.Calls[i].argumentText()}})
		}
		message["tool_calls"] = calls
	}
	switch {
	case a.Refuse:
		message["refusal"], message["content"] = a.Text, nil
	case a.Cut:
		finish = "length"
	}
	out := map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish}}}
	if !a.NoUsage {
		out["usage"] = map[string]any{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens}
	}
	return out
}

// openAIEvents are the chunks of a message: texts and arguments in pieces.
func openAIEvents(a *Answer) []string {
	chunk := func(delta map[string]any, finish any) string {
		return "data: " + toJSON(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}) + "\n\n"
	}
	list := []string{": comment\n\n", chunk(map[string]any{"role": "assistant", "content": ""}, nil)}
	for _, piece := range pieces(a.Text) {
		list = append(list, chunk(map[string]any{"content": piece}, nil))
	}
	finish := "stop"
	for i := range a.Calls {
		finish = "tool_calls"
		list = append(list, chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": a.Calls[i].ID, "type": "function",
			"function": map[string]any{"name": a.Calls[i].Name, "arguments": ""}}}}, nil))
		for _, piece := range pieces(a.Calls[i].argumentText()) {
			list = append(list, chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i,
				"function": map[string]any{"arguments": piece}}}}, nil))
		}
	}
	if a.Cut {
		finish = "length"
	}
	return append(list, chunk(map[string]any{}, finish),
		"data: "+toJSON(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": InputTokens,
			"completion_tokens": OutputTokens}})+"\n\n",
		"data: [DONE]\n\n")
}

func pieces(text string) []string {
	var list []string
	for len(text) > 0 {
		n := min(7, len(text))
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

func anthropicMessage(a *Answer) any {
	content := []any{}
	if a.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": a.Text})
	}
	for i := range a.Calls {
		content = append(content, map[string]any{"type": "tool_use", "id": a.Calls[i].ID, "name": a.Calls[i].Name, "input": a.Calls[i].input()})
	}
	out := map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": Model, "content": content,
		"stop_reason": anthropicStop(a), "stop_sequence": nil}
	if !a.NoUsage {
		out["usage"] = map[string]any{"input_tokens": InputTokens, "output_tokens": OutputTokens}
	}
	return out
}

// input is the arguments as this format has them, which is JSON whatever a model wrote.
func (c *Call) input() json.RawMessage {
	text := json.RawMessage(c.argumentText())
	if !json.Valid(text) {
		return json.RawMessage(toJSON(string(text)))
	}
	return text
}

func anthropicStop(a *Answer) string {
	switch {
	case a.Refuse:
		return "refusal"
	case a.Cut:
		return "max_tokens"
	case len(a.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func anthropicEvents(a *Answer) []string {
	var list []string
	add := func(kind string, members map[string]any) {
		members["type"] = kind
		list = append(list, fmt.Sprintf("event: %s\ndata: %s\n\n", kind, toJSON(members)))
	}
	add("message_start", map[string]any{"message": map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": Model,
		"content": []any{}, "stop_reason": nil, "usage": map[string]any{"input_tokens": InputTokens, "output_tokens": 1}}})
	add("ping", map[string]any{})
	index := 0
	block := func(start map[string]any, kind, member, text string) {
		add("content_block_start", map[string]any{"index": index, "content_block": start})
		for _, piece := range pieces(text) {
			add("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, member: piece}})
		}
		add("content_block_stop", map[string]any{"index": index})
		index++
	}
	if a.Text != "" {
		block(map[string]any{"type": "text", "text": ""}, "text_delta", "text", a.Text)
	}
	for i := range a.Calls {
		block(map[string]any{"type": "tool_use", "id": a.Calls[i].ID, "name": a.Calls[i].Name, "input": map[string]any{}},
			"input_json_delta", "partial_json", a.Calls[i].argumentText())
	}
	add("message_delta", map[string]any{"delta": map[string]any{"stop_reason": anthropicStop(a), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": OutputTokens}})
	add("message_stop", map[string]any{})
	return list
}

// errorEvent is how a service says in a stream that it has failed.
func (s *Server) errorEvent() string {
	if s.format == Anthropic {
		return "event: error\ndata: " + toJSON(map[string]any{"type": "error",
			"error": map[string]any{"type": "overloaded_error", "message": "Overloaded"}}) + "\n\n"
	}
	return "data: " + toJSON(map[string]any{"error": map[string]any{"message": "Overloaded", "type": "server_error"}}) + "\n\n"
}
