package languagemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
)

// problem is why a service refuses a request.
type problem struct {
	status   int
	text     string
	expected bool // the test asked for it
}

func wrong(format string, args ...any) *problem {
	return &problem{status: http.StatusBadRequest, text: fmt.Sprintf(format, args...)}
}

// maxBody is the largest request that is read.
const maxBody = 32 << 20

func (s *Server) check(r *http.Request) (*Request, *problem) {
	path := "/v1/chat/completions"
	if s.format == Anthropic {
		path = "/v1/messages"
	}
	if r.Method != http.MethodPost || r.URL.Path != path {
		return nil, &problem{status: http.StatusNotFound, text: r.Method + " " + r.URL.Path}
	}
	if p := s.checkHeaders(r.Header); p != nil {
		return nil, p
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, wrong("the body cannot be read")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, wrong("the body is no JSON object: %v", err)
	}
	known := []string{"model", "messages", "tools", "tool_choice", "stream", "max_tokens"}
	if s.format == OpenAI {
		known = append(known, "max_completion_tokens", "parallel_tool_calls", "temperature")
	} else {
		known = append(known, "system", "temperature")
	}
	for name := range members {
		if !slices.Contains(known, name) {
			return nil, wrong("Unrecognized request argument supplied: %s", name)
		}
		if s.lenient[name] {
			p := wrong("Unsupported parameter: '%s' is not supported with this model.", name)
			p.expected = true
			return nil, p
		}
	}
	var model string
	if json.Unmarshal(members["model"], &model) != nil || model != Model {
		return nil, wrong("model %s does not exist", members["model"])
	}
	request := &Request{Body: string(body)}
	if s.format == OpenAI {
		return request, checkOpenAI(members, request)
	}
	return request, checkAnthropic(members, request)
}

func (s *Server) checkHeaders(h http.Header) *problem {
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return wrong("Content-Type %q", h.Get("Content-Type"))
	}
	unauthorized := &problem{status: http.StatusUnauthorized, text: "invalid key"}
	if s.format == OpenAI {
		if h.Get("Authorization") != "Bearer "+Key {
			return unauthorized
		}
		return nil
	}
	if h.Get("X-Api-Key") != Key {
		return unauthorized
	}
	if h.Get("Anthropic-Version") != "2023-06-01" {
		return wrong("anthropic-version: header is required")
	}
	return nil
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkTool checks a tool by the JSON schema of its arguments, as far as both formats
// use it.
func checkTool(name, description string, raw json.RawMessage) *problem {
	if !toolName.MatchString(name) || description == "" {
		return wrong("tool %q", name)
	}
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil || schema.Type != "object" {
		return wrong("tool %s: no schema of an object", name)
	}
	for property, text := range schema.Properties {
		var p struct {
			Type string   `json:"type"`
			Enum []string `json:"enum"`
		}
		if json.Unmarshal(text, &p) != nil || !slices.Contains([]string{"string", "integer", "number", "boolean", "array", "object"}, p.Type) {
			return wrong("tool %s: property %s", name, property)
		}
	}
	for _, required := range schema.Required {
		if schema.Properties[required] == nil {
			return wrong("tool %s requires %s, which it does not have", name, required)
		}
	}
	return nil
}

// checkPairs checks that each call has its result in the message that follows, and no
// result is without its call.
func checkPairs(messages []Message) *problem {
	if len(messages) == 0 || messages[0].Role != "user" || messages[len(messages)-1].Role != "user" {
		return wrong("the conversation does not begin and end with the user")
	}
	var open []string
	seen := map[string]bool{}
	for i, m := range messages {
		if i > 0 && m.Role == messages[i-1].Role {
			return wrong("messages.%d: roles must alternate", i)
		}
		var results []string
		for _, r := range m.Results {
			results = append(results, r.ID)
		}
		slices.Sort(results)
		slices.Sort(open)
		if m.Role == "user" && !slices.Equal(results, open) {
			return wrong("messages.%d: results of %v for calls of %v", i, results, open)
		}
		open = nil
		for _, c := range m.Calls {
			if c.ID == "" || seen[c.ID] {
				return wrong("messages.%d: call id %q", i, c.ID)
			}
			seen[c.ID] = true
			open = append(open, c.ID)
		}
	}
	return nil
}

func checkOpenAI(members map[string]json.RawMessage, out *Request) *problem {
	var messages []struct {
		Role       string  `json:"role"`
		Content    *string `json:"content"`
		ToolCallID string  `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(members["messages"], &messages); err != nil {
		return wrong("messages: %v", err)
	}
	for i, m := range messages {
		switch {
		case m.Role == "system" && i == 0 && m.Content != nil:
			out.System = *m.Content
			continue
		case m.Content == nil && (m.Role != "assistant" || len(m.ToolCalls) == 0):
			return wrong("messages[%d].content must be a string", i)
		case m.Role == "assistant":
			message := Message{Role: "assistant"}
			for _, c := range m.ToolCalls {
				if c.Type != "function" || !toolName.MatchString(c.Function.Name) || !json.Valid([]byte(c.Function.Arguments)) {
					return wrong("messages[%d].tool_calls", i)
				}
				message.Calls = append(message.Calls, Call{ID: c.ID, Name: c.Function.Name, ArgumentText: c.Function.Arguments})
			}
			if m.Content != nil {
				message.Text = *m.Content
			}
			out.Messages = append(out.Messages, message)
			continue
		case m.Role != "user" && (m.Role != "tool" || m.ToolCallID == ""):
			return wrong("messages[%d].role %q", i, m.Role)
		}
		// Results and a text of the user after each other are one message of the other
		// format.
		last := len(out.Messages) - 1
		if last < 0 || out.Messages[last].Role != "user" {
			out.Messages = append(out.Messages, Message{Role: "user"})
			last++
		}
		if m.Role == "tool" {
			if out.Messages[last].Text != "" {
				return wrong("messages[%d]: a result that does not follow its call", i)
			}
			out.Messages[last].Results = append(out.Messages[last].Results, Result{ID: m.ToolCallID, Text: *m.Content})
			continue
		}
		out.Messages[last].Text += *m.Content
	}
	var tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal(members["tools"], &tools); err != nil {
		return wrong("tools: %v", err)
	}
	for _, t := range tools {
		if p := checkTool(t.Function.Name, t.Function.Description, t.Function.Parameters); p != nil || t.Type != "function" {
			return p
		}
		out.Tools = append(out.Tools, t.Function.Name)
	}
	var choice string
	if raw := members["tool_choice"]; raw != nil && (json.Unmarshal(raw, &choice) != nil || choice != "required" && choice != "auto") {
		return wrong("tool_choice %s", raw)
	}
	return checkPairs(out.Messages)
}

func checkAnthropic(members map[string]json.RawMessage, out *Request) *problem {
	var most int
	if json.Unmarshal(members["max_tokens"], &most) != nil || most < 1 {
		return wrong("max_tokens: Field required")
	}
	if raw := members["system"]; raw != nil && json.Unmarshal(raw, &out.System) != nil {
		return wrong("system: %s", raw)
	}
	var messages []struct {
		Role    string `json:"role"`
		Content []struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Input     json.RawMessage `json:"input"`
			ToolUseID string          `json:"tool_use_id"`
			Content   string          `json:"content"`
			IsError   bool            `json:"is_error"`
		} `json:"content"`
	}
	if err := json.Unmarshal(members["messages"], &messages); err != nil {
		return wrong("messages: %v", err)
	}
	for i, m := range messages {
		if len(m.Content) == 0 || m.Role != "user" && m.Role != "assistant" {
			return wrong("messages.%d: content must not be empty", i)
		}
		message := Message{Role: m.Role}
		for _, block := range m.Content {
			switch {
			case block.Type == "text" && block.Text != "":
				message.Text += block.Text
			case block.Type == "tool_use" && m.Role == "assistant":
				var object map[string]any
				if json.Unmarshal(block.Input, &object) != nil || object == nil || !toolName.MatchString(block.Name) {
					return wrong("messages.%d: tool_use.input: Input should be a valid dictionary", i)
				}
				message.Calls = append(message.Calls, Call{ID: block.ID, Name: block.Name, Arguments: object})
			case block.Type == "tool_result" && m.Role == "user" && message.Text == "":
				message.Results = append(message.Results, Result{block.ToolUseID, block.Content, block.IsError})
			default:
				return wrong("messages.%d: block %q", i, block.Type)
			}
		}
		out.Messages = append(out.Messages, message)
	}
	var tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	if err := json.Unmarshal(members["tools"], &tools); err != nil {
		return wrong("tools: %v", err)
	}
	for _, t := range tools {
		if p := checkTool(t.Name, t.Description, t.InputSchema); p != nil {
			return p
		}
		out.Tools = append(out.Tools, t.Name)
	}
	var choice struct {
		Type string `json:"type"`
	}
	if raw := members["tool_choice"]; raw != nil && (json.Unmarshal(raw, &choice) != nil || choice.Type != "any" && choice.Type != "auto") {
		return wrong("tool_choice %s", raw)
	}
	return checkPairs(out.Messages)
}
