package model

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// openAIFormat is that of chat completions.
type openAIFormat struct{}

func (openAIFormat) path(base string) string { return base + "/chat/completions" }

func (openAIFormat) headers(key string) [][2]string {
	if key == "" {
		return nil
	}
	return [][2]string{{"Authorization", "Bearer " + key}}
}

// The parameters that some compatible servers and some models refuse. max_tokens is
// the former name of max_completion_tokens.
const (
	maxCompletionTokens = "max_completion_tokens"
	toolChoice          = "tool_choice"
)

func (openAIFormat) optional() []string { return []string{maxCompletionTokens, toolChoice} }

type openAIMessage struct {
	Role       string       `json:"role"`
	Content    *string      `json:"content"`
	Refusal    string       `json:"refusal,omitempty"`
	ToolCalls  []openAICall `json:"tool_calls,omitempty"`
	ToolCallID string       `json:"tool_call_id,omitempty"`
}

type openAICall struct {
	Index    int            `json:"-"`
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type openAITool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (openAIFormat) encode(cfg *Config, r *Request, without map[string]bool) ([]byte, error) {
	body := map[string]any{"model": cfg.Model, "stream": false, "messages": openAIMessages(r)}
	tools := make([]openAITool, len(r.Tools))
	for i, t := range r.Tools {
		tools[i].Type = "function"
		tools[i].Function.Name, tools[i].Function.Description, tools[i].Function.Parameters = t.Name, t.Description, t.Schema
	}
	if len(tools) > 0 {
		body["tools"] = tools
		if !without[toolChoice] {
			body[toolChoice] = "required"
		}
	}
	if without[maxCompletionTokens] {
		body["max_tokens"] = cfg.MaxOutput
	} else {
		body[maxCompletionTokens] = cfg.MaxOutput
	}
	return json.Marshal(body)
}

func openAIMessages(r *Request) []openAIMessage {
	list := []openAIMessage{{Role: "system", Content: &r.System}}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Reply != nil {
			out := openAIMessage{Role: "assistant"}
			if m.Reply.Text != "" || len(m.Reply.Calls) == 0 {
				out.Content = &m.Reply.Text
			}
			for _, c := range m.Reply.Calls {
				// A server may refuse arguments that are no JSON, though they are its own.
				args := string(c.Arguments)
				if !json.Valid(c.Arguments) {
					args = "{}"
				}
				out.ToolCalls = append(out.ToolCalls, openAICall{ID: c.ID, Type: "function", Function: openAIFunction{safeName(c.Name), args}})
			}
			list = append(list, out)
			continue
		}
		for _, result := range m.Results {
			text := result.Text
			if result.Error {
				text = "ERROR: " + text
			}
			list = append(list, openAIMessage{Role: "tool", ToolCallID: result.ID, Content: &text})
		}
		if m.Text != "" {
			list = append(list, openAIMessage{Role: "user", Content: &m.Text})
		}
	}
	return list
}

type openAIUsage struct {
	Input  int `json:"prompt_tokens"`
	Output int `json:"completion_tokens"`
}

func (openAIFormat) decode(body []byte) (*Reply, error) {
	var answer struct {
		Choices []struct {
			Message      openAIMessage `json:"message"`
			FinishReason string        `json:"finish_reason"`
		} `json:"choices"`
		Usage openAIUsage     `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Error) > 0 && string(answer.Error) != "null" {
		return nil, &streamFailure{openAIFormat{}.failure(body)} // an error with status 200
	}
	if len(answer.Choices) == 0 {
		return nil, errors.New("no choices")
	}
	choice := answer.Choices[0]
	return openAIReply(&choice.Message, choice.FinishReason, answer.Usage), nil
}

func openAIReply(m *openAIMessage, finish string, usage openAIUsage) *Reply {
	reply := &Reply{Stop: Stopped, Usage: TokenUsage(usage)}
	if m.Content != nil {
		reply.Text = *m.Content
	}
	seen := map[string]bool{}
	for _, c := range m.ToolCalls {
		if c.ID == "" || seen[c.ID] { // of some compatible servers
			c.ID = "call_" + rand.Text()
		}
		seen[c.ID] = true
		args := json.RawMessage(c.Function.Arguments)
		if strings.TrimSpace(c.Function.Arguments) == "" {
			args = json.RawMessage("{}")
		}
		reply.Calls = append(reply.Calls, ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: args})
	}
	switch {
	case m.Refusal != "":
		reply.Stop, reply.Text = Refused, m.Refusal
	case finish == "content_filter":
		reply.Stop = Refused
	case finish == "length":
		reply.Stop = Cut
	}
	return reply
}

func (openAIFormat) failure(body []byte) string { return failureText(body) }

// failureText reads {"error":{"message":...}}, which both formats have, and the forms
// of compatible servers: {"error":"..."}, {"message":"..."}, {"detail":"..."}.
func failureText(body []byte) string {
	var plain struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &plain) != nil {
		return ""
	}
	var nested struct {
		Message string `json:"message"`
		Param   string `json:"param"`
	}
	var text string
	switch {
	case json.Unmarshal(plain.Error, &nested) == nil && nested.Message != "":
		return nested.Message
	case json.Unmarshal(plain.Error, &text) == nil && text != "":
		return text
	case plain.Message != "":
		return plain.Message
	}
	return string(plain.Detail)
}

// openAIStream puts chunks together.
type openAIStream struct {
	message openAIMessage
	text    strings.Builder
	refusal strings.Builder
	finish  string
	usage   openAIUsage
}

func (openAIFormat) stream() streamReader { return &openAIStream{} }

// maxStreamCalls bounds the calls of one message.
const maxStreamCalls = 64

func (s *openAIStream) event(data []byte) (bool, error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content   string `json:"content"`
				Refusal   string `json:"refusal"`
				ToolCalls []struct {
					Index    int            `json:"index"`
					ID       string         `json:"id"`
					Function openAIFunction `json:"function"`
				} `json:"tool_calls"`
			} `json:"delta"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
		Usage *openAIUsage    `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &chunk); err != nil {
		return false, err
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return false, &streamFailure{failureText(data)}
	}
	if chunk.Usage != nil {
		s.usage = *chunk.Usage
	}
	if len(chunk.Choices) == 0 {
		return false, nil
	}
	choice := chunk.Choices[0]
	s.text.WriteString(choice.Delta.Content)
	s.refusal.WriteString(choice.Delta.Refusal)
	if choice.FinishReason != "" {
		s.finish = choice.FinishReason
	}
	for _, part := range choice.Delta.ToolCalls {
		at := slices.IndexFunc(s.message.ToolCalls, func(c openAICall) bool { return c.Index == part.Index })
		if at < 0 {
			if len(s.message.ToolCalls) >= maxStreamCalls {
				return false, errors.New("too many calls of tools")
			}
			at = len(s.message.ToolCalls)
			s.message.ToolCalls = append(s.message.ToolCalls, openAICall{Index: part.Index})
		}
		c := &s.message.ToolCalls[at]
		if part.ID != "" {
			c.ID = part.ID
		}
		if part.Function.Name != "" {
			c.Function.Name = part.Function.Name
		}
		c.Function.Arguments += part.Function.Arguments
	}
	return false, nil
}

// reply returns the message when its end came: a finish reason, with or without the
// [DONE] that some servers leave out.
func (s *openAIStream) reply() (*Reply, error) {
	if s.finish == "" {
		return nil, errStreamEnded
	}
	text := s.text.String()
	s.message.Content, s.message.Refusal = &text, s.refusal.String()
	return openAIReply(&s.message, s.finish, s.usage), nil
}
