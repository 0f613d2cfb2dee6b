package crashes

import (
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// need is a file that crashes lack.
type need struct {
	ID             int64        `json:"id"`
	CrashProjectID int64        `json:"crash_project_id"`
	Kind           string       `json:"kind"`
	Name           string       `json:"name"`
	Version        string       `json:"version"`
	Arch           string       `json:"arch"`
	LookedFor      []identifier `json:"looked_for"`
	Crashes        int64        `json:"crashes"`
	CrashesExact   bool         `json:"crashes_exact"`
	Groups         []struct {
		ID      int64  `json:"id"`
		Title   string `json:"title"`
		Crashes int64  `json:"crashes"`
	} `json:"groups"`
	GroupsExact bool      `json:"groups_exact"`
	FirstSeen   time.Time `json:"first_seen"`
	LastSeen    time.Time `json:"last_seen"`
	Command     string    `json:"-"` // which sends the file
}

// needList is a page of them.
type needList struct {
	Missing    []need   `json:"missing"`
	Pagination envelope `json:"pagination"`
}

// missing serves GET /console/crashes/symbols/missing.
func (p *Pages) missing(c *gin.Context) error {
	var list needList
	fault, err := refused(p.API.Get(c, "/api/v3/symbols/missing", frame.Valued(c.Request.URL.Query()), &list))
	if err != nil {
		return err
	}
	return p.show(c, "missing", fault, frame.Page{Title: "Missing symbol files", Data: map[string]any{"Fault": fault,
		"Missing": p.needs(list.Missing), "Pagination": list.Pagination, "Pager": p.pager(c, list.Pagination),
		"Kinds": choices(c, "kind", "native", "proguard", "sourcemap"), "Sorts": choices(c, "sort", "last_seen", "crashes"),
		"Kept": kept(c, "search", "kind", "sort")}})
}

func (p *Pages) needs(list []need) []need {
	for i := range list {
		list[i].Command = p.command(list[i])
	}
	return list
}

// plainName is the name of a file that a shell and curl take as it is.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}$`)

// command is what sends a file that is missing. Names come from programs that crashed,
// perhaps in the hands of an enemy: what a shell or curl could take for more than a name is
// quoted, and sent as a plain text.
func (p *Pages) command(n need) string {
	parts := []string{"curl -sS --fail-with-body " + quoted(p.PublicURL()+"/api/v3/symbols"), `-H "X-API-Key: $API_KEY"`}
	text := func(name, value string) {
		if value != "" {
			parts = append(parts, "--form-string "+quoted(name+"="+value))
		}
	}
	var first identifier
	if len(n.LookedFor) > 0 {
		first = n.LookedFor[0]
	}
	file := "symbols.zip"
	switch n.Kind {
	case "proguard":
		file = "mapping.txt"
		if first.Type == "mapping_id" {
			text("id", first.Value)
		}
	case "sourcemap":
		file = "maps.tar.gz"
		if at := addressOf(n.LookedFor); first.Type != "debugId" && at.Value != "" {
			text("release", at.Release)
			if i := strings.LastIndexByte(at.Value, '/'); i >= 0 {
				text("url_prefix", at.Value[:i+1])
			}
		}
	default:
		name := path.Base(strings.ReplaceAll(n.Name, `\`, "/"))
		if plainName.MatchString(name) {
			file = name
		}
	}
	return strings.Join(append(parts, "-F file=@"+file), " ")
}

// addressOf is the first address of a script that was looked for.
func addressOf(list []identifier) identifier {
	for _, id := range list {
		if id.Type == "url" {
			return id
		}
	}
	return identifier{}
}

// quoted is a text as one word of a shell, without characters that a terminal acts on.
func quoted(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
