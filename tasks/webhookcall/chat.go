package webhookcall

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/link"
)

// message is an event in words.
type message struct {
	Title string
	Text  string // "" : the title says all
	Link  string // "" : none
}

// service turns a message into the document that a chat service takes.
type service func(message) any

// serviceOf returns the chat service behind an address; nil: none that is known.
func serviceOf(address string) service {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	below := func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }
	switch {
	case host == "hooks.slack.com" || host == "hooks.slack-gov.com":
		return slack
	case host == "outlook.office.com" || host == "outlook.office365.com" || below("webhook.office.com"):
		return messageCard
	case below("logic.azure.com") || below("api.powerplatform.com"):
		return adaptiveCard
	case (below("discord.com") || below("discordapp.com")) && strings.HasPrefix(u.Path, "/api/") && strings.Contains(u.Path, "webhooks/"):
		return discord
	}
	return nil
}

const (
	// maxTitle and maxText bound a message in characters: Discord takes 2,000 in all, and
	// escaping can double them.
	maxTitle = 200
	maxText  = 600
)

// messageOf says what happened.
func messageOf(action webhook.Action, m members, links link.Links) message {
	app := cmp.Or(m.text("appName"), "an app")
	if version := m.text("version"); version != "" {
		app += " " + version
	}
	if build := m.text("build"); build != "" {
		app += " (" + build + ")"
	}
	out := message{Title: string(action) + ": " + app, Link: cmp.Or(m.text("landingPageBuildUrl"), m.text("buildUrl"))}
	switch action {
	case webhook.Upload:
		out.Title, out.Text = "New build: "+app, m.text("changeLog")
	case webhook.Download:
		out.Title = cmp.Or(m.text("testerEmail"), "Somebody") + " downloaded " + app
	case webhook.Crash:
		out.Title, out.Text = "Crash in "+app, m.text("crashMessage")
	case webhook.CrashGroup:
		out.Title, out.Text = "New crash group in "+app, m.text("title")
		if m.text("change") == "regressed" {
			out.Title = "Crash is back in " + app
		}
		out.Link = m.groupURL(links)
	case webhook.CrashRule:
		out.Title, out.Text = cmp.Or(m.text("rule"), "Crash rule")+" fired in "+app, m.text("title")+" ("+m.text("reason")+")"
		out.Link = m.groupURL(links)
	case webhook.Feedback:
		out.Title, out.Text = "Feedback on "+app+" by "+cmp.Or(m.text("email"), "somebody"), m.text("text")
		out.Link = cmp.Or(m.text("sessionUrl"), out.Link)
	case webhook.NewUDID:
		out.Title, out.Text = "New device of "+cmp.Or(m.text("email"), "somebody"), m.text("device")+" "+m.text("udid")
	case webhook.Run:
		out.Title, out.Text, out.Link = m.text("status")+": "+m.text("name"), m.outcome(), m.text("runUrl")
	case webhook.Schedule:
		out.Title, out.Text = "Schedule stopped: "+m.text("name"), m.text("reason")
	case webhook.Gate:
		out.Title, out.Text = "Gate "+m.text("state")+": "+app, m.text("reason")
	case webhook.Test:
		out.Title, out.Text = "Test of webhook "+m.text("webhookName"), m.text("message")
	}
	out.Title, out.Text = line(out.Title), storage.Cut(strings.TrimSpace(out.Text), maxText)
	return out
}

// outcome says how a run ended: its error, else how many tests ended how, and the largest causes of
// those that failed.
func (m members) outcome() string {
	if text := m.text("error"); text != "" {
		return text
	}
	var counts map[string]int
	if json.Unmarshal(m["counts"], &counts) != nil {
		return ""
	}
	var ended []string
	for _, name := range []string{"passed", "flaky", "failed", "error", "cancelled", "quarantined"} {
		if counts[name] > 0 {
			ended = append(ended, strconv.Itoa(counts[name])+" "+name)
		}
	}
	lines := []string{strings.Join(ended, ", ")}
	var groups []struct {
		Title  string `json:"title"`
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(m["failureGroups"], &groups) // an event of a case has none
	for _, group := range groups[:min(len(groups), maxCauses)] {
		lines = append(lines, line(group.Title)+" ("+group.Reason+")")
	}
	return strings.Join(lines, "\n")
}

// maxCauses are the causes that a message names.
const maxCauses = 3

func line(text string) string {
	return storage.Cut(strings.Join(strings.Fields(text), " "), maxTitle)
}

// slack: &, < and > begin everything that Slack reads as more than text, such as
// <!channel> and <@user> (its reference "Formatting text for app surfaces").
func slack(m message) any {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	text := "*" + escape(strings.ReplaceAll(m.Title, "*", "∗")) + "*"
	if m.Text != "" {
		text += "\n" + escape(m.Text)
	}
	if m.Link != "" {
		text += "\n<" + strings.NewReplacer("|", "%7C").Replace(escape(m.Link)) + "|Open>"
	}
	return map[string]any{"text": text}
}

// discord: no mention of anybody is allowed, and Markdown is escaped.
func discord(m message) any {
	text := "**" + escapeMarkdown(m.Title) + "**"
	if m.Text != "" {
		text += "\n" + escapeMarkdown(m.Text)
	}
	if m.Link != "" {
		text += "\n<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(m.Link) + ">"
	}
	return map[string]any{"content": storage.Cut(text, 2000), "allowed_mentions": map[string]any{"parse": []string{}}}
}

// escapeMarkdown puts a backslash before each character that begins something.
func escapeMarkdown(text string) string {
	var out strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]()<>#+-.!|~@:&", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// messageCard is Microsoft's legacy actionable message card, which connectors of Teams
// and Outlook take. Its texts are Markdown, with HTML in it.
func messageCard(m message) any {
	escape := func(text string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_", "[", "\\[", "]",
			"\\]", "`", "\\`").Replace(text)
	}
	card := map[string]any{"@type": "MessageCard", "@context": "https://schema.org/extensions", "summary": m.Title,
		"title": escape(m.Title), "text": cmp.Or(escape(m.Text), escape(m.Title))}
	if m.Link != "" {
		card["potentialAction"] = []any{map[string]any{"@type": "OpenUri", "name": "Open",
			"targets": []any{map[string]any{"os": "default", "uri": m.Link}}}}
	}
	return card
}

// adaptiveCard is what workflows of Teams take. Text runs are no Markdown.
func adaptiveCard(m message) any {
	block := func(text, weight string) any {
		return map[string]any{"type": "RichTextBlock", "inlines": []any{map[string]any{"type": "TextRun", "text": text, "weight": weight}}}
	}
	content := []any{block(m.Title, "Bolder")}
	if m.Text != "" {
		content = append(content, block(m.Text, "Default"))
	}
	card := map[string]any{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard",
		"version": "1.4", "body": content}
	if m.Link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Open", "url": m.Link}}
	}
	return map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}}}
}
