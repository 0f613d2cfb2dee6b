package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// PartThreshold is the size in bytes above which a file is sent in parts when nobody says
// otherwise: smaller ones are sent again whole in less time than parts take.
const PartThreshold = 64 << 20

// Sending says how files are sent.
type Sending struct {
	// Key is the Idempotency-Key of what takes the files: with it the same request makes one
	// build, by two jobs too. "": one of Job, or for this call.
	Key string
	// Job names the job that uploads a build, and what it says of it, where only the same upload is
	// to be the same build: then the Idempotency-Key is of it and of the content of the files. "": none.
	Job string
	// Threshold is the size above which a file is sent in parts; 0: PartThreshold.
	Threshold int64
	// Count hears of bytes that were sent, of negative ones that have to be sent again; nil:
	// nobody.
	Count func(n int64)
	// Have hears of bytes that need not be sent, as an earlier call sent them; nil: nobody.
	Have func(n int64)
}

// NewKey returns an Idempotency-Key that nothing else has.
func NewKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return "once-" + hex.EncodeToString(b[:])
}

func (s Sending) threshold() int64 {
	if s.Threshold > 0 {
		return s.Threshold
	}
	return PartThreshold
}

// NewBuild is a build to upload. Texts that are "" leave it to the package, or to the app.
type NewBuild struct {
	File *File
	// Symbols are its mapping or dSYM; nil: none.
	Symbols *File

	ProjectID    string
	AppName      string
	Version      string
	VersionCode  string
	Notes        string
	Groups       []string // names or ids of groups of testers
	Tags         []string
	Folder       string
	Platform     string // of a file that is no package
	Metadata     map[string]string
	NotifyPeople bool
}

// Uploaded is the answer to an upload.
type Uploaded struct {
	BuildID       string   `json:"build_id"` // "": the file was kept as symbols
	ProjectID     string   `json:"project_id"`
	AppName       string   `json:"app_name"`
	AppVersion    string   `json:"app_version"`
	VersionCode   string   `json:"version_code"`
	PackageName   string   `json:"package_name"`
	Platform      string   `json:"platform"`
	FileSize      int64    `json:"file_size"`
	SHA256        string   `json:"sha256"`
	BuildURL      string   `json:"build_url"` // its install page
	Verification  string   `json:"verification"`
	Notification  string   `json:"notification,omitempty"` // held: it waits for the gate
	Warnings      []string `json:"warnings"`
	InvalidGroups []string `json:"invalid_groups"`
	TaskIDs       []string `json:"task_ids"`
	// RequestID is that of the request, by which its tasks are found.
	RequestID string `json:"request_id"`
}

// Upload uploads a build. Files above the threshold go in parts and are resumed; the others are
// one request. Another file that the server has under the key is an *Error of kind Conflict.
func (c *Client) Upload(ctx context.Context, b NewBuild, how Sending) (*Uploaded, error) {
	out := &Uploaded{}
	ids := map[string]string{}
	err := c.withParts(ctx, []namedFile{{"file", "upload_id", b.File}, {"symbols_file", "symbols_upload_id", b.Symbols}}, how,
		func(more []field, files []formFile) error {
			for _, x := range more {
				ids[x.name] = x.value
			}
			key, err := b.key(how)
			if err != nil {
				return err
			}
			out.RequestID, err = c.sendForm(ctx, "/api/upload", append(b.fields(), more...), files, key, how.Count, out)
			return err
		})
	if err != nil {
		return out, err
	}
	digest, err := c.digestOf(ctx, b.File, ids["upload_id"])
	if err != nil {
		return out, err
	}
	return out, another(b.File, digest, out.SHA256)
}

// key is the Idempotency-Key of the request that takes the files, which were read by now.
func (b NewBuild) key(how Sending) (string, error) {
	if how.Key != "" || how.Job == "" {
		return cmp.Or(how.Key, NewKey()), nil
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", how.Job)
	for _, f := range []*File{b.File, b.Symbols} {
		if f == nil {
			continue
		}
		content, err := f.content()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q=%q\n", f.Name, content)
	}
	return "ci-" + hex.EncodeToString(h.Sum(nil)[:20]), nil
}

// digestOf returns the SHA-256 of a file: of one that was sent in parts, which were compared one by
// one, that which the server has taken of them.
func (c *Client) digestOf(ctx context.Context, f *File, upload string) (string, error) {
	if upload == "" {
		return f.SHA256()
	}
	var out struct {
		Upload partUpload `json:"upload"`
	}
	err := c.Get(ctx, Path("api", "v3", "uploads", upload), nil, &out)
	if Is(err, Missing) || err == nil && out.Upload.SHA256 == "" {
		return f.SHA256()
	}
	return out.Upload.SHA256, err
}

// another is an error when the server has another file than was sent.
func another(f *File, sent, stored string) error {
	if sent == stored {
		return nil
	}
	return &Error{Kind: Conflict,
		Text: fmt.Sprintf("%s: the server has another file under this Idempotency-Key: its SHA-256 is %s, that of what was sent %s",
			cmp.Or(f.Place, f.Path), cmp.Or(stored, "not known"), sent)}
}

// namedFile is a file of a form (nil: none), with the field in which it stands, and the field
// that names it when it came in parts.
type namedFile struct {
	field, uploadField string
	file               *File
}

// withParts sends those of the files in parts that are above the threshold, then the form that
// takes all of them. Parts that the server lost meanwhile are sent again.
func (c *Client) withParts(ctx context.Context, files []namedFile, how Sending, send func([]field, []formFile) error) error {
	for try := 1; ; try++ {
		var fields []field
		var whole []formFile
		for _, f := range files {
			switch {
			case f.file == nil:
			case f.file.Size <= how.threshold():
				whole = append(whole, formFile{f.field, f.file})
			default:
				id, err := c.SendParts(ctx, f.file, how)
				if err != nil {
					return err
				}
				fields = append(fields, field{f.uploadField, id})
			}
		}
		err := send(fields, whole)
		if !Is(err, Conflict) || len(fields) == 0 || try == mostTries || !c.lostParts(ctx, fields) {
			return err
		}
		how.Have = nil // they were counted
	}
}

// lostParts reports whether one of the uploads is open still: what takes them could not.
func (c *Client) lostParts(ctx context.Context, uploads []field) bool {
	for _, f := range uploads {
		var out struct {
			Upload partUpload `json:"upload"`
		}
		if c.Get(ctx, Path("api", "v3", "uploads", f.value), nil, &out) == nil && out.Upload.State == "open" {
			return true
		}
	}
	return false
}

func (b NewBuild) fields() []field {
	var all []field
	add := func(name, value string) {
		if value != "" {
			all = append(all, field{name, value})
		}
	}
	add("project_id", b.ProjectID)
	add("app_name", b.AppName)
	add("version", b.Version)
	add("version_code", b.VersionCode)
	add("release_notes", b.Notes)
	add("groups", strings.Join(b.Groups, ","))
	add("tags", strings.Join(b.Tags, ","))
	add("folder_name", b.Folder)
	add("platform", b.Platform)
	for _, name := range slices.Sorted(maps.Keys(b.Metadata)) {
		add("metadata."+name, b.Metadata[name])
	}
	if b.NotifyPeople {
		add("notify", "on")
	}
	return all
}

// Said is a digest of all that is said of the build, without its files.
func (b NewBuild) Said() string {
	h := sha256.New()
	for _, x := range b.fields() {
		fmt.Fprintf(h, "%q=%q\n", x.name, x.value) // quoted: no value ends its line
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sendForm sends a form and reads its answer. It returns the id of the request.
func (c *Client) sendForm(ctx context.Context, path string, fields []field, files []formFile, key string, count func(int64),
	out any) (string, error) {
	f, err := newForm(fields, files)
	if err != nil {
		return "", err
	}
	r := Request{Method: http.MethodPost, Path: path, Body: f.body, ContentType: f.contentType(), Size: f.size, Key: key, Count: count}
	id := ""
	err = c.answer(ctx, r, func(res *http.Response) error {
		id = res.Header.Get("X-Request-Id")
		return c.read(r, res, out)
	})
	if err != nil {
		return "", err
	}
	for _, x := range files { // before anybody hears that it is well
		if err := x.file.check(); err != nil {
			return "", &Error{Kind: Misused, Text: x.file.Path + " was changed while it was sent: what was stored may be neither of both"}
		}
	}
	return id, nil
}
