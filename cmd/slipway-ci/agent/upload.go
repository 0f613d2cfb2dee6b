package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// packages are the ends of names of what may be uploaded: an agent that was talked into it
// must not send a file of secrets.
func packages() []string {
	return []string{".apk", ".aab", ".apks", ".xapk", ".ipa", ".zip", ".dmg", ".pkg", ".exe", ".msi", ".msix", ".appx"}
}

const (
	uploadTool = "upload_build"
	// maxUpload is what one call sends; larger ones go by slipway-ci upload.
	maxUpload = 1 << 30
	// uploadTime is what sending a file may take.
	uploadTime  = 15 * time.Minute
	maxMetadata = 50
)

// addUpload adds the tool where there are folders to upload from.
func (s *server) addUpload() error {
	if len(s.cfg.Folders) == 0 {
		return nil
	}
	folders := make([]string, 0, len(s.cfg.Folders))
	for _, path := range s.cfg.Folders {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("folder for uploads: %w", err)
		}
		whole, err := filepath.EvalSymlinks(absolute)
		if err != nil {
			return fmt.Errorf("folder for uploads: %w", err)
		}
		folders = append(folders, whole)
	}
	add(s, tool{name: uploadTool, title: "Upload a build", write: Builds, outside: true,
		longest: map[string]int{"path": 4096, "release_notes": 5000},
		description: "Upload a package (.apk, .aab, .ipa, .zip and the like) of this machine, from the working directory or a folder that is " +
			"allowed. It becomes a build that testers may be given; nobody is notified."},
		func(ctx context.Context, in uploadArguments) (any, error) { return s.upload(ctx, folders, in) })
	return nil
}

type uploadArguments struct {
	Path         string            `json:"path" jsonschema:"the package: relative to the working directory, or absolute"`
	ReleaseNotes string            `json:"release_notes,omitempty" jsonschema:"what is new, for testers (Markdown)"`
	App          int64             `json:"app_id,omitempty" jsonschema:"id of the app; by default the one that the package names"`
	Tags         []string          `json:"tags,omitempty" jsonschema:"tags of the build"`
	Metadata     map[string]string `json:"metadata,omitempty" jsonschema:"metadata of the build, such as commit and branch"`
}

// uploaded is a new build.
type uploaded struct {
	BuildID   string `json:"build_id"`
	ProjectID string `json:"project_id"`
	AppName   line   `json:"app_name,omitempty"`
	Version   line   `json:"version,omitempty"`
	Warnings  []line `json:"warnings,omitempty"`
	URL       string `json:"url"`
}

func (s *server) upload(ctx context.Context, folders []string, in uploadArguments) (any, error) {
	if len(in.Metadata) > maxMetadata {
		return nil, wrong("metadata", fmt.Sprintf("has at most %d members", maxMetadata))
	}
	path, err := locate(folders, in.Path)
	if err != nil {
		return nil, err
	}
	file, err := client.OpenFile(path, filepath.Base(in.Path))
	if err != nil {
		return nil, err
	}
	if file.Size > maxUpload {
		return nil, wrong("path", "the file is above 1 GiB: upload it with slipway-ci upload")
	}
	made, err := s.cfg.Client.Upload(ctx, client.NewBuild{File: file, ProjectID: number(in.App), Notes: in.ReleaseNotes, Tags: in.Tags,
		Metadata: in.Metadata}, client.Sending{})
	if err != nil {
		return nil, err
	}
	answer := uploaded{BuildID: made.BuildID, ProjectID: made.ProjectID, AppName: line(made.AppName), Version: line(made.AppVersion),
		URL: s.console("builds", "builds", made.BuildID)}
	for _, warning := range made.Warnings {
		answer.Warnings = append(answer.Warnings, line(warning))
	}
	return answer, nil
}

// locate returns where a file is, without links: below one of the folders, and a package.
func locate(folders []string, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folders[0], path)
	}
	whole, err := filepath.EvalSymlinks(path)
	if err != nil {
		whole = path // to say where it is not
	}
	switch {
	case !slices.ContainsFunc(folders, func(folder string) bool { return below(folder, whole) }):
		return "", &callError{refused, "path: is outside of the working directory and of the folders of --allow-path"}
	case errors.Is(err, fs.ErrNotExist):
		return "", wrong("path", "there is no such file")
	case err != nil:
		return "", wrong("path", "cannot be read")
	case !slices.Contains(packages(), strings.ToLower(filepath.Ext(whole))):
		return "", &callError{refused, "path: only packages are uploaded: " + strings.Join(packages(), ", ")}
	}
	return whole, nil
}

func below(folder, path string) bool {
	name, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(name)
}
