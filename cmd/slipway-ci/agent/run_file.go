package agent

import (
	"context"
	"slices"
	"strings"
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
	var lacks []string
	for _, name := range in.Include {
		f := lastOf(answer.Jobs[at].files, kinds()[name])
		if f == nil {
			lacks = append(lacks, name)
			continue
		}
		if err := s.include(ctx, answer, picture, name, f, in.Offset); err != nil {
			return nil, err
		}
	}
	if len(lacks) > 0 {
		answer.Note = "this run has no " + strings.Join(lacks, ", no ")
	}
	return picture, nil
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

// include reads one file into the answer.
func (s *server) include(ctx context.Context, answer *run, picture *pictured, name string, f *file, offset int) error {
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
	if name == "console" {
		answer.Console = page(content)
		return nil
	}
	answer.Source, answer.NextOffset = part(outline(string(content)), offset)
	return nil
}

// part is what is answered of a source from an offset, and where the next part begins; 0
// when there is none.
func part(source string, offset int) (page, int) {
	offset = min(max(offset, 0), len(source))
	rest := source[offset:]
	kept := cut(rest, maxPage)
	if len(kept) == len(rest) {
		return page(kept), 0
	}
	return page(kept), offset + len(kept)
}
