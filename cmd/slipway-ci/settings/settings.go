// Package settings reads slipway.yaml, the file with what holds for a repository: the server, the app,
// where its tests are, and the policy of its gate. Flags and the environment win over it.
//
// Find looks for it up to the root of the repository, Read reads it. It is strict, for nobody looks
// at a pipeline that passes: a member that is not known is an error that names the nearest one, and
// so is a secret, which has no place in a repository. Each error names the file and the line, and
// exits with 2.
package settings

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/usage"
)

const (
	// Name is the file with a repository's settings.
	Name = "slipway.yaml"
	// maxFile bounds it in bytes.
	maxFile = 1 << 20
)

// File is slipway.yaml: what holds for a repository. Flags and environment win over it.
type File struct {
	// Path is where it was found; "" when there is none.
	Path string
	// Server is the address of the server.
	Server string
	// App is the name, the package or the id of the app that builds go to.
	App string
	// Groups are the groups of testers of an upload.
	Groups []string
	// Channel is the channel of an upload: its metadata of this name.
	Channel string
	// Notes is a file with release notes, relative to the settings.
	Notes string
	// Metadata are further data of uploads.
	Metadata map[string]string
	// Tests is the folder with tests, relative to the settings.
	Tests string
	// Suite is the name of the suite that tests are of, when nothing names another.
	Suite string
	// Environment is the name of the environment that tests are run in, when nothing names another.
	Environment string
	// OIDC names the configuration for tokens of a job, and their audience.
	OIDC struct{ Key, Audience string }
	// Gate is the policy of the app, as it stands; nil: none.
	Gate *yaml.Node
}

// Folder is where the settings stand: what their paths are relative to.
func (f *File) Folder() string { return filepath.Dir(f.Path) }

// members read the members of slipway.yaml.
var members = map[string]func(*File, *yaml.Node) error{
	"server":      text(func(f *File) *string { return &f.Server }),
	"app":         text(func(f *File) *string { return &f.App }),
	"project":     text(func(f *File) *string { return &f.App }),
	"channel":     text(func(f *File) *string { return &f.Channel }),
	"notes":       text(func(f *File) *string { return &f.Notes }),
	"tests":       text(func(f *File) *string { return &f.Tests }),
	"suite":       text(func(f *File) *string { return &f.Suite }),
	"environment": text(func(f *File) *string { return &f.Environment }),
	"group":       func(f *File, n *yaml.Node) error { return texts(&f.Groups, n) },
	"groups":      func(f *File, n *yaml.Node) error { return texts(&f.Groups, n) },
	"gate": func(f *File, n *yaml.Node) error {
		if n.Kind != yaml.MappingNode {
			return wrong(n, "gate", "a mapping: the policy")
		}
		f.Gate = n
		return nil
	},
	"metadata": func(f *File, n *yaml.Node) error {
		f.Metadata = map[string]string{}
		return eachMember(n, "metadata", func(key, value *yaml.Node) error {
			if value.Kind != yaml.ScalarNode {
				return wrong(value, "metadata."+key.Value, "a text")
			}
			f.Metadata[key.Value] = value.Value
			return nil
		})
	},
	"oidc": func(f *File, n *yaml.Node) error {
		into := map[string]*string{"key": &f.OIDC.Key, "audience": &f.OIDC.Audience}
		return eachMember(n, "oidc", func(key, value *yaml.Node) error {
			to := into[key.Value]
			if to == nil {
				return unknownMember(key, "oidc.", slices.Collect(maps.Keys(into)))
			}
			return scalar(to, value, "oidc."+key.Value)
		})
	},
}

// secretMembers are refused by name: a file in a repository is no place for them.
var secretMembers = []string{"key", "api_key", "token", "password"}

// Find returns the path of the settings of a folder: its own, or those of the nearest
// folder above up to the root of the repository (.git); "" for none. Outside of a repository
// only the folder itself counts.
func Find(dir string) (string, error) {
	nearest := ""
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, Name)
		_, err := os.Stat(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if err == nil && nearest == "" {
			nearest = path
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return nearest, nil
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if filepath.Dir(nearest) == dir {
		return nearest, nil
	}
	return "", nil
}

// Read reads slipway.yaml; "" is a File that says nothing.
func Read(path string) (*File, error) {
	f := &File{Path: path}
	if path == "" {
		return f, nil
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, outcome.Fail(outcome.Misused, "%w", err)
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, outcome.Fail(outcome.Misused, "%s: %w", path, err)
	}
	if len(content) > maxFile {
		return nil, outcome.Fail(outcome.Misused, "%s has more than %d MiB", path, maxFile>>20)
	}
	if err := f.parse(content); err != nil {
		return nil, outcome.Fail(outcome.Misused, "%s: %w", path, err)
	}
	return f, nil
}

func (f *File) parse(content []byte) error {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil
	}
	return eachMember(document.Content[0], "the document", func(key, value *yaml.Node) error {
		read := members[key.Value]
		switch {
		case read != nil:
			return read(f, value)
		case slices.Contains(secretMembers, strings.ToLower(key.Value)):
			return fmt.Errorf("line %d: %q does not belong into a repository: use the variable SLIPWAY_KEY, or --key-file", key.Line, key.Value)
		}
		return unknownMember(key, "", slices.Collect(maps.Keys(members)))
	})
}

// eachMember visits the members of a mapping, none of which may come twice.
func eachMember(n *yaml.Node, name string, visit func(key, value *yaml.Node) error) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return wrong(n, name, "a mapping")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return wrong(key, name, "a mapping of names")
		}
		if seen[key.Value] {
			return fmt.Errorf("line %d: %q stands there twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if err := visit(key, value); err != nil {
			return err
		}
	}
	return nil
}

func unknownMember(key *yaml.Node, prefix string, known []string) error {
	slices.Sort(known)
	near := ""
	if name := usage.Nearest(key.Value, known); name != "" {
		near = ", did you mean " + strconv.Quote(prefix+name) + "?"
	}
	return fmt.Errorf("line %d: unknown member %q%s", key.Line, prefix+key.Value, near)
}

func wrong(n *yaml.Node, name, want string) error {
	return fmt.Errorf("line %d: %s must be %s", n.Line, name, want)
}

func text(of func(*File) *string) func(*File, *yaml.Node) error {
	return func(f *File, n *yaml.Node) error { return scalar(of(f), n, "it") }
}

func scalar(to *string, n *yaml.Node, name string) error {
	if n.Kind != yaml.ScalarNode {
		return wrong(n, name, "a text")
	}
	if n.Tag != "!!null" {
		*to = n.Value
	}
	return nil
}

// texts reads a list of texts, or one.
func texts(to *[]string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		var one string
		if err := scalar(&one, n, ""); err != nil || one == "" {
			return err
		}
		*to = []string{one}
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return wrong(n, "it", "a list of texts")
	}
	for _, item := range n.Content {
		var one string
		if err := scalar(&one, item, "an item"); err != nil {
			return err
		}
		*to = append(*to, one)
	}
	return nil
}
