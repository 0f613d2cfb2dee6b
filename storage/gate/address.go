package gate

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/slipway-qa/slipway/storage"
)

// maxHost is the longest name of a host, and maxLabel of what stands between its dots.
const (
	maxHost  = 253
	maxLabel = 63
)

// address is where a suite is to run, with placeholders {{name}} for values of a build. Whoever
// uploads a build chooses these values, and the tests type passwords at the address: so a value
// never changes which part of an address it stands in, names no variable, and alone decides on
// no domain.
type address struct {
	before string // scheme and credentials
	host   []addressPart
	port   string // with its colon
	rest   []addressPart
}

// addressPart is text as it is, or the name of a placeholder.
type addressPart struct {
	text        string
	placeholder bool
}

func holds(parts []addressPart) bool {
	for _, p := range parts {
		if p.placeholder {
			return true
		}
	}
	return false
}

// placeholder reports whether an address may have it.
func placeholder(name string) bool {
	return strings.HasPrefix(name, "metadata.") && len(name) > len("metadata.") || name == "version" || name == "version_code" ||
		name == "build_id"
}

// parseAddress reads an address; the errors say what it has that it may not have.
func parseAddress(text string) (*address, error) {
	a := &address{}
	scheme, behind, found := strings.Cut(text, "://")
	if s := strings.ToLower(scheme); !found || s != "https" && s != "http" {
		return nil, errors.New("must be an http or https address")
	}
	parts, err := addressParts(behind)
	if err != nil {
		return nil, err
	}
	if holds(parts) && strings.Contains(text, `\`) {
		return nil, errors.New("has a backslash, which browsers take for a slash")
	}
	host := splitAddress(parts, "/?#")
	a.rest = parts[len(host):]
	if last := len(host) - 1; last >= 0 && !host[last].placeholder {
		// The part that the host ends in is the one that the rest begins in.
		if end := strings.IndexAny(host[last].text, "/?#"); end >= 0 {
			a.rest = append([]addressPart{{text: host[last].text[end:]}}, a.rest...)
			host[last].text = host[last].text[:end]
		}
	}
	a.before, a.host = scheme+"://", host
	if !holds(host) {
		return a, nil
	}
	return a, a.splitHost()
}

// splitAddress returns the parts up to the first text that has one of the characters, with it.
func splitAddress(parts []addressPart, chars string) []addressPart {
	for i, p := range parts {
		if !p.placeholder && strings.ContainsAny(p.text, chars) {
			return append([]addressPart{}, parts[:i+1]...)
		}
	}
	return append([]addressPart{}, parts...)
}

// splitHost takes credentials and port off a host that has placeholders, and refuses
// placeholders and other characters in them.
func (a *address) splitHost() error {
	for i := len(a.host) - 1; i >= 0; i-- {
		if user, host, found := cutLast(a.host[i].text, "@"); found && !a.host[i].placeholder {
			if holds(a.host[:i]) {
				return errors.New("has a placeholder before its @")
			}
			for _, p := range a.host[:i] {
				a.before += p.text
			}
			a.before += user + "@"
			a.host = append([]addressPart{{text: host}}, a.host[i+1:]...)
			break
		}
	}
	if last := &a.host[len(a.host)-1]; !last.placeholder {
		if host, port, found := strings.Cut(last.text, ":"); found {
			last.text, a.port = host, ":"+port
		}
	}
	kept := a.host[:0]
	for _, p := range a.host {
		if !p.placeholder && !isHostText(p.text) {
			return errors.New("must have letters, digits, dots and hyphens beside the placeholders of its host")
		}
		if p.text != "" {
			kept = append(kept, p)
		}
	}
	a.host = kept
	return nil
}

func cutLast(text, at string) (before, after string, found bool) {
	i := strings.LastIndex(text, at)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(at):], true
}

func addressParts(text string) (list []addressPart, err error) {
	for text != "" {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			list = append(list, addressPart{text: before})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}}")
		if name = strings.TrimSpace(name); !closed {
			return nil, errors.New("has a placeholder without its end")
		}
		if !placeholder(name) {
			return nil, fmt.Errorf("has {{%s}}, which is no placeholder", storage.Cut(name, maxName))
		}
		list, text = append(list, addressPart{name, true}), after
	}
	return list, nil
}

// open reports whether a value decides on the domain: then only hosts that are allowed are filled in. It
// does not where the text behind the last placeholder is a domain of somebody's own: example.com,
// and neither com nor a domain below which anybody gets a name.
func (a *address) open() bool {
	if !holds(a.host) {
		return false
	}
	last := a.host[len(a.host)-1]
	domain, below := strings.CutPrefix(strings.ToLower(last.text), ".")
	if last.placeholder || !below || !isHost(domain) {
		return true
	}
	suffix, _ := publicsuffix.PublicSuffix("x." + domain)
	top := domain[strings.LastIndex(domain, ".")+1:]
	return len(suffix) >= len(domain) || strings.Trim(top[:1], "0123456789") == ""
}

// fill returns the address with the values of a build. Those in the host are parts of a name;
// one that is the whole host may have a port. All others are encoded.
func (a *address) fill(allowed []string, value func(name string) (string, bool)) (string, error) {
	host, err := a.fillHost(allowed, value)
	if err != nil {
		return "", err
	}
	var rest strings.Builder
	for _, p := range a.rest {
		text, err := p.value(value)
		if err != nil {
			return "", err
		}
		if p.placeholder {
			text = strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
		}
		rest.WriteString(text)
	}
	if holds(a.rest) && climbs(rest.String()) {
		return "", errors.New("would have . or .. as a part of its path")
	}
	return a.before + host + a.port + rest.String(), nil
}

func (a *address) fillHost(allowed []string, value func(name string) (string, bool)) (string, error) {
	var out strings.Builder
	for _, p := range a.host {
		text, err := p.value(value)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	if !holds(a.host) {
		return out.String(), nil
	}
	host, port := out.String(), ""
	if name, number, found := strings.Cut(host, ":"); found && len(a.host) == 1 && a.port == "" {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil || n == 0 {
			return "", errors.New("would have no number for its port")
		}
		host, port = name, ":"+strconv.FormatUint(n, 10)
	}
	if !isHost(host) {
		return "", errors.New("would have a host that is no name: values may have letters, digits, dots and hyphens there")
	}
	if (a.open() || len(allowed) > 0) && !isAllowed(host, allowed) {
		return "", errors.New("would have a host that is not among the allowed_hosts of the policy")
	}
	return host + port, nil
}

func (p addressPart) value(value func(name string) (string, bool)) (string, error) {
	if !p.placeholder {
		return p.text, nil
	}
	text, ok := value(p.text)
	switch {
	case !ok || text == "":
		return "", fmt.Errorf("has the placeholder {{%s}}, which has no value", storage.Cut(p.text, maxName))
	case strings.Contains(text, "{{"):
		return "", fmt.Errorf("has the placeholder {{%s}}, whose value has {{", storage.Cut(p.text, maxName))
	}
	return text, nil
}

// climbs reports whether browsers would shorten a path.
func climbs(rest string) bool {
	path := rest
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		path = rest[:end]
	}
	for part := range strings.SplitSeq(path, "/") {
		if part = strings.ReplaceAll(strings.ToLower(part), "%2e", "."); part == "." || part == ".." {
			return true
		}
	}
	return false
}

func isHostText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-')
	})
}

func isHost(name string) bool {
	if len(name) > maxHost || !isHostText(name) {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// isAllowed reports whether a host is one of a list, or below a domain *.DOMAIN of it.
func isAllowed(host string, list []string) bool {
	host = strings.ToLower(host)
	for _, one := range list {
		domain, below := strings.CutPrefix(one, "*")
		if host == one || below && strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// checkAllowed refuses an entry of the allowed hosts that is none, and brings it into the form
// that hosts are compared with.
func checkAllowed(path, text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	domain, below := strings.CutPrefix(text, "*.")
	if !isHost(domain) {
		return "", storage.Invalid(path, "must be a host such as staging.example.com, or *.example.com for those below it")
	}
	if suffix, managed := publicsuffix.PublicSuffix(domain); below && managed && suffix == domain {
		return "", storage.Invalid(path, "must not be all of *.%s: anybody can have a name there", domain)
	}
	return text, nil
}
