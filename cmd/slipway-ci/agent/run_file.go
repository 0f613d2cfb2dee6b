package agent

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxSource  = 8 << 20 // of a page that is looked at, in bytes
	maxPicture = 1 << 20 // that is answered, in bytes
)

// withFiles adds what the arguments include, of the first job that did not pass.
func (s *server) withFiles(ctx context.Context, answer *run, in runArguments) (any, error) {
	at := slices.IndexFunc(answer.Jobs, func(j job) bool { return j.Status != "PASSED" && len(j.files) > 0 })
	if at < 0 {
		at = slices.IndexFunc(answer.Jobs, func(j job) bool { return len(j.files) > 0 })
	}
	if len(in.Include) == 0 {
		return answer, nil
	}
	if at < 0 {
		answer.Note = "there are no files of this run"
		return answer, nil
	}
	picture := &pictured{answer: answer}
	got := contents{}
	var lacks []string
	for _, name := range in.Include {
		f := lastOf(answer.Jobs[at].files, kinds()[name])
		if f == nil {
			lacks = append(lacks, name)
			continue
		}
		if err := s.include(ctx, answer, picture, name, f, got); err != nil {
			return nil, err
		}
	}
	if len(lacks) > 0 {
		answer.Note = "this run has no " + strings.Join(lacks, ", no ")
	}
	return picture, answer.take(got, in.Offset)
}

// kinds are those of files, by what an agent calls them.
func kinds() map[string]string {
	return map[string]string{"page_source": "source", "console": "console", "screenshot": "screenshot"}
}

// lastOf is the latest file of a kind: that of the step that failed, where one did.
func lastOf(files []file, kind string) *file {
	var last *file
	for i := range files {
		if files[i].Kind == kind && (last == nil || files[i].Step >= last.Step) {
			last = &files[i]
		}
	}
	return last
}

// contents are the texts of files, by what an agent calls them, as they are answered.
type contents map[string]string

// include reads one file: a picture into the answer, a text into contents.
func (s *server) include(ctx context.Context, answer *run, picture *pictured, name string, f *file, got contents) error {
	if name == "screenshot" {
		if f.Size > maxPicture {
			answer.Note = "the screenshot is above 1 MiB; it is on the page of the run"
			return nil
		}
		var err error
		picture.bytes, picture.kind, err = s.cfg.Client.RunFile(ctx, f.ID, maxPicture)
		return err
	}
	content, _, err := s.cfg.Client.RunFile(ctx, f.ID, maxSource)
	if err != nil {
		return err
	}
	if name == "page_source" {
		content = []byte(outline(string(content)))
	}
	got[name] = visible(string(content))
	return nil
}

// take answers as much of the texts as has room beside the rest of the answer, of which
// nothing is cut again (shorten): where the next part begins is true. Of the console it is
// the end, which has what happened last.
func (r *run) take(got contents, offset int) error {
	rest, err := encode(r)
	if err != nil {
		return err
	}
	room := max(leastRoom, maxAnswer-len(rest)-roomForMarks)
	if console, ok := got["console"]; ok {
		most := room
		if _, both := got["page_source"]; both {
			most /= 2
		}
		end := within(console, most, cutFront)
		r.Console, r.ConsoleOmitted = page(end), len(console)-len(end)
		room -= encodedLen(end)
	}
	if source, ok := got["page_source"]; ok {
		r.Source, r.NextOffset = part(source, offset, room)
	}
	return nil
}

const (
	// leastRoom is what texts of files have in any case, in bytes of JSON: what stands beside
	// them is cut shorter.
	leastRoom = 8 << 10
	// roomForMarks is for the marking, numbers and note.
	roomForMarks = 1 << 10
)

// part is what is answered of a source from an offset, at most some bytes as JSON, and where
// the next part begins; 0 when there is none.
func part(source string, offset, most int) (page, int) {
	offset = min(max(offset, 0), len(source))
	for offset < len(source) && !utf8.RuneStart(source[offset]) {
		offset++
	}
	rest := source[offset:]
	kept := within(rest, most, cut)
	if len(kept) == len(rest) {
		return page(kept), 0
	}
	return page(kept), offset + len(kept)
}

// within shortens a text until it has at most maxPage bytes, and most as JSON.
func within(s string, most int, shorter func(s string, most int) string) string {
	s = shorter(s, maxPage)
	for len(s) > 0 && encodedLen(s) > most {
		s = shorter(s, len(s)*7/8)
	}
	return s
}

// cutFront returns the end of a text, of whole characters.
func cutFront(s string, most int) string {
	from := max(len(s)-most, 0)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// encodedLen is the length of a text as JSON.
func encodedLen(s string) int {
	text, err := encode(s)
	if err != nil {
		return len(s)
	}
	return len(text)
}
