package report

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// MaxSummary is how much GitHub takes as the summary of a step, in bytes.
const MaxSummary = 1 << 20

// Markdown writes a summary of at most most bytes: a line of counts, the tests that failed
// with their reason, those that were flaky, and a table of all. What has no room is left
// out from the end, and a line says so.
func (r *Report) Markdown(w io.Writer, most int) error {
	const cut = "\n_More has no room here._\n"
	room := min(most, MaxSummary) - len(cut)
	var out strings.Builder
	whole := true
	for _, part := range r.parts() {
		if out.Len()+len(part) > room {
			whole = false
			break
		}
		out.WriteString(part)
	}
	if !whole && room > 0 {
		out.WriteString(cut)
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

// parts are the parts of a summary, each of which may be the last.
func (r *Report) parts() []string {
	parts := []string{fmt.Sprintf("### %s %s\n\n%s\n", mark(r.Good()), link(r.Name, r.URL), r.sums())}
	var about []string
	for _, p := range r.Properties {
		about = append(about, markdown(p.Name)+": "+markdown(p.Value))
	}
	if len(about) > 0 {
		parts = append(parts, "\n"+strings.Join(about, " · ")+"\n")
	}
	if causes := r.causes(); causes != "" {
		parts = append(parts, causes)
	}
	for i := range r.Cases {
		if c := &r.Cases[i]; len(c.Failures) > 0 {
			parts = append(parts, c.why())
		}
	}
	parts = append(parts, "\n| Test | Target | Result | Time |\n|---|---|---|---|\n")
	for i := range r.Cases {
		c := &r.Cases[i]
		parts = append(parts, fmt.Sprintf("| %s | %s | %s %s | %s |\n", link(c.Name, c.URL), markdown(c.Target), mark(c.Outcome.Harmless()),
			c.Outcome, c.Took.Round(100*time.Millisecond)))
	}
	return parts
}

func (r *Report) sums() string {
	var list []string
	for _, s := range []struct {
		n    int
		what string
	}{{r.Count(Failed), "failed"}, {r.Count(Errored), "could not run"}, {r.Count(Flaky), "passed in the end (flaky)"},
		{r.Count(Cancelled), "cancelled"}, {r.Count(Passed), "passed"}, {r.Count(Skipped), "skipped"},
		{r.Count(Quarantined), "failed in quarantine"}} {
		if s.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", s.n, s.what))
		}
	}
	if len(list) == 0 {
		return "No test was run."
	}
	return strings.Join(list, ", ") + fmt.Sprintf(" in %s.", r.Took.Round(time.Second))
}

// why says what became of a test that did not pass at once.
func (c *Case) why() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n<details%s><summary>%s %s: %s</summary>\n\n", map[bool]string{false: " open"}[c.Outcome.Harmless()],
		mark(c.Outcome.Harmless()), htmlText(c.Name), c.Outcome)
	if c.File != "" {
		fmt.Fprintf(&b, "%s\n\n", markdown(fmt.Sprintf("%s:%d", c.File, c.Line)))
	}
	for i := range c.Failures {
		f := &c.Failures[i]
		fmt.Fprintf(&b, "%s: %s\n\n", link(f.Code, f.URL), markdown(clip(f.Text, 2<<10)))
		for _, line := range f.Why {
			fmt.Fprintf(&b, "- %s\n", markdown(clip(line, 500)))
		}
		if len(f.Why) > 0 {
			b.WriteString("\n")
		}
		if len(f.Attachments) > 0 {
			fmt.Fprintf(&b, "Files: %s\n\n", markdown(strings.Join(f.Attachments, ", ")))
		}
	}
	if steps := c.last().Steps; len(steps) > 0 {
		b.WriteString("<pre>\n")
		for _, s := range steps[max(0, len(steps)-20):] {
			b.WriteString(htmlText(clip(s, 500)) + "\n")
		}
		b.WriteString("</pre>\n\n")
	}
	b.WriteString("</details>\n")
	return b.String()
}

func mark(good bool) string {
	if good {
		return "✅"
	}
	return "❌"
}

// markdown is a text of one line in which nothing means anything.
func markdown(text string) string {
	var b strings.Builder
	for _, r := range Line(text) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '>':
			b.WriteString("&gt;")
			continue
		case r == '&':
			b.WriteString("&amp;")
			continue
		case r == '@':
			b.WriteString("&#64;") // names nobody
			continue
		case strings.ContainsRune("\\`*_{}[]()#+-.!|~$^=:\"'", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// htmlText is a text of one line within HTML in Markdown.
func htmlText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;",
		"|", "&#124;", "\\", "&#92;", "$", "&#36;", "~", "&#126;", "!", "&#33;", ":", "&#58;").Replace(Line(text))
}

// link is a text that leads to an address of the web, where there is one.
func link(text, address string) string {
	u, err := url.Parse(address)
	if address == "" || err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return markdown(text)
	}
	return "[" + markdown(text) + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "\\", "%5C").Replace(u.String()) + ">)"
}
