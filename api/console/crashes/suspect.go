package crashes

import "time"

// suspectChanges are the commits that may have caused the crashes of a group.
type suspectChanges struct {
	State       string         `json:"state"`
	FirstBuild  *affectedBuild `json:"first_build"`
	BuildBefore *affectedBuild `json:"build_before"`
	Suspects    []rangeCommit  `json:"suspects"`
	Others      []rangeCommit  `json:"others"`
	Omitted     int            `json:"omitted"`
	Incomplete  bool           `json:"incomplete"`
}

// rangeCommit is a commit between the build before and the first one of a group; a suspect has
// reasons.
type rangeCommit struct {
	ID      string `json:"id"`
	BuildID int64  `json:"build_id"`
	Author  struct {
		Name   string `json:"name"`
		Member *struct {
			Email string `json:"email"`
			Name  string `json:"name"`
		} `json:"member"`
	} `json:"author"`
	CommittedAt time.Time `json:"committed_at"`
	Message     string    `json:"message"`
	Score       int       `json:"score"`
	Reasons     []struct {
		What     string   `json:"what"`
		Files    []string `json:"files"`
		Function string   `json:"function"`
	} `json:"reasons"`
}

// shownID is how much of a commit's id is shown.
const shownID = 10

// Short is the beginning of the id.
func (c *rangeCommit) Short() string { return c.ID[:min(len(c.ID), shownID)] }

// By is who wrote it: the member's name or mail address, else the name that the commit has.
func (c *rangeCommit) By() string {
	switch m := c.Author.Member; {
	case m == nil && c.Author.Name == "":
		return "somebody"
	case m == nil:
		return c.Author.Name
	case m.Name != "":
		return m.Name
	default:
		return m.Email
	}
}

// suspicions are the reasons in words.
var suspicions = map[string]string{"crashing_frame_file": "changes the file of the frame that crashed",
	"own_frame_file": "changes a file of the stack",
	"file_name":      "changes a file of the name", "folder": "changes the same folder", "recency": "late in the range"}

// Why are the reasons with their files.
func (c *rangeCommit) Why() (list []suspicion) {
	for _, r := range c.Reasons {
		if text := suspicions[r.What]; text != "" {
			list = append(list, suspicion{text, r.Files})
		}
	}
	return list
}

// suspicion is a reason as the page shows it.
type suspicion struct {
	Text  string
	Files []string
}
