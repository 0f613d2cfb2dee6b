package suspect

import (
	"cmp"
	"slices"

	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
)

// Frame is a frame of the stack that led to a crash.
type Frame struct {
	Function string
	File     string
	Library  string // of a script, its file; "": not known
	Own      *bool  // nil: not known
}

// What is why a commit is suspected.
type What string

// The reasons, the strongest first. Recency adds to the others, and makes no suspect alone.
const (
	CrashingFile What = "crashing_frame_file" // changes the file of the frame that crashed
	OwnFile      What = "own_frame_file"      // that of another frame of the program's own
	FileName     What = "file_name"           // a file of the name, where the frame has no folder
	Folder       What = "folder"              // another file in the folder of the frame that crashed
	Recency      What = "recency"             // the later of the range
)

// maxScore is the most that reasons come to, however many there are.
const maxScore = 100

// The points of the reasons.
const (
	crashingPoints = 60
	ownPoints      = 25 // of the next own frame, ownStep less for each further one, ownLeast at least
	ownStep        = 2
	ownLeast       = 9
	namePoints     = 20 // of the frame that crashed; otherNamePoints of the others
	otherName      = 8
	folderPoints   = 10
	recencyPoints  = 5
)

const (
	// maxFrames bounds the own frames that are looked at, maxReasonPaths the files that a reason
	// names.
	maxFrames      = 30
	maxReasonPaths = 5
)

// Reason is why a commit is suspected.
type Reason struct {
	What   What
	Points int
	// Paths are files of the commit, at most five; Function is that of the frame.
	Paths    []string
	Function string
}

// Ranked is a commit with why it is suspected; without a reason it is not.
type Ranked struct {
	buildcommit.Commit
	BuildID int64 // that it came with
	Score   int   // the sum of the points, at most 100
	Reasons []Reason
}

// ownFrames are the frames that can be the program's fault: its own, or those of which nobody
// knows, where none is known to be.
func ownFrames(frames []Frame) []Frame {
	var own, unknown []Frame
	for _, f := range frames {
		switch {
		case f.Own == nil:
			unknown = append(unknown, f)
		case *f.Own:
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		own = unknown
	}
	return own[:min(len(own), maxFrames)]
}

// spot is a place of a frame.
type spot struct {
	place
	frame int // among the own ones
}

// ranking looks commits through for the frames of a stack.
type ranking struct {
	frames []Frame
	byName map[string][]spot
	folder []place // of the frame that crashed
	best   map[int]int
}

// Rank says of commits, newest first, why they are suspected of a crash with these frames,
// innermost first. The suspects come first, the strongest before the others; those without a
// reason keep their order.
func Rank(commits []Ranked, frames []Frame) (suspects, others []Ranked) {
	r := &ranking{frames: ownFrames(frames), byName: map[string][]spot{}, best: map[int]int{}}
	for i := range r.frames {
		for _, p := range places(&r.frames[i]) {
			name := key(p.segments)
			r.byName[name] = append(r.byName[name], spot{p, i})
			if i == 0 {
				r.folder = append(r.folder, p)
			}
		}
	}
	// Where a frame's path has several files that it may be, those count that share most with it.
	for i := range commits {
		for _, path := range commits[i].Paths {
			r.match(path, func(frame, shared int) { r.best[frame] = max(r.best[frame], shared) })
		}
	}
	for i := range commits {
		c := &commits[i]
		if r.judge(c); len(c.Reasons) == 0 {
			others = append(others, *c)
			continue
		}
		if points := recencyPoints * (len(commits) - i) / len(commits); points > 0 {
			c.add(Recency, points, "", "")
		}
		for _, reason := range c.Reasons {
			c.Score += reason.Points
		}
		c.Score = min(c.Score, maxScore)
		suspects = append(suspects, *c)
	}
	slices.SortStableFunc(suspects, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(len(a.Paths)+a.PathsOmitted, len(b.Paths)+b.PathsOmitted))
	})
	return suspects, others
}

// match calls found for each frame whose file a path can be, with the segments that they share.
func (r *ranking) match(path string, found func(frame, shared int)) {
	parts := segments(path)
	for _, s := range r.byName[key(parts)] {
		if n := s.shared(parts); n > 0 {
			found(s.frame, n)
		}
	}
}

// judge adds the reasons of a commit.
func (r *ranking) judge(c *Ranked) {
	for _, path := range c.Paths {
		crashing := false
		r.match(path, func(frame, shared int) {
			if shared < r.best[frame] {
				return
			}
			function := r.frames[frame].Function
			crashing = crashing || frame == 0
			switch {
			case shared < telling && frame == 0:
				c.add(FileName, namePoints, path, function)
			case shared < telling:
				c.add(FileName, otherName, path, function)
			case frame == 0:
				c.add(CrashingFile, crashingPoints, path, function)
			default:
				c.add(OwnFile, max(ownPoints-ownStep*(frame-1), ownLeast), path, function)
			}
		})
		if parts := segments(path); !crashing && slices.ContainsFunc(r.folder, func(p place) bool { return p.inFolder(parts) }) {
			c.add(Folder, folderPoints, path, r.frames[0].Function)
		}
	}
	slices.SortStableFunc(c.Reasons, func(a, b Reason) int { return cmp.Compare(b.Points, a.Points) })
}

// add adds a file to a reason. The most points count, with the function that they are for.
func (c *Ranked) add(what What, points int, path, function string) {
	at := slices.IndexFunc(c.Reasons, func(r Reason) bool { return r.What == what })
	if at < 0 {
		at = len(c.Reasons)
		c.Reasons = append(c.Reasons, Reason{What: what, Paths: []string{}})
	}
	r := &c.Reasons[at]
	if points > r.Points {
		r.Points, r.Function = points, function
	}
	if path != "" && len(r.Paths) < maxReasonPaths && !slices.Contains(r.Paths, path) {
		r.Paths = append(r.Paths, path)
	}
}
