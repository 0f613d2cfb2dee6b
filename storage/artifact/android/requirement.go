package android

import (
	"context"
	"errors"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// Requirements are what a manifest declares of the platform. Zero is none.
type Requirements struct {
	MinSDK    int
	TargetSDK int
	Sandbox   int // targetSandboxVersion
}

// codenames are the API levels before those that previews had, by the first letters
// of their names: a package for a preview of O is for what follows 25.
var codenames = map[byte]int{'C': 2, 'D': 3, 'E': 4, 'F': 7, 'G': 8, 'H': 10, 'I': 13, 'J': 15, 'K': 18, 'L': 20,
	'M': 22, 'N': 23, 'O': 25, 'P': 27, 'Q': 28, 'R': 29, 'S': 30, 'T': 32, 'U': 33, 'V': 34}

// ReadRequirements reads the manifest of an APK. One that cannot be read is an
// *artifact.InvalidError; other errors come from the reader.
func ReadRequirements(ctx context.Context, a *archive.Archive) (Requirements, error) {
	all := a.All(manifestName)
	if len(all) == 0 {
		return Requirements{}, &artifact.InvalidError{Reason: "there is no AndroidManifest.xml"}
	}
	root, err := readDocument(ctx, a, all[0])
	if cause := a.Err(); cause != nil {
		return Requirements{}, cause
	}
	if err != nil {
		return Requirements{}, &artifact.InvalidError{Reason: "AndroidManifest.xml cannot be read: " + err.Error()}
	}
	var r Requirements
	r.Sandbox = level(root.attr("targetSandboxVersion"))
	for _, sdk := range root.Children {
		if sdk.Name == "uses-sdk" {
			r.MinSDK = max(r.MinSDK, level(sdk.attr("minSdkVersion")))
			r.TargetSDK = max(r.TargetSDK, level(sdk.attr("targetSdkVersion")))
		}
	}
	if r.TargetSDK == 0 {
		r.TargetSDK = r.MinSDK // the platform's default
	}
	return r, nil
}

// readDocument reads a document of binary XML; it is not nil without an error.
func readDocument(ctx context.Context, a *archive.Archive, e archive.Entry) (root *element, err error) {
	err = catchPanic(func() error {
		raw, err := a.Read(e, maxManifest)
		if err != nil {
			return err
		}
		root, err = parseXML(ctx, raw)
		return err
	})
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errors.New("it is empty")
	}
	return root, nil
}

// level returns an API level: a number, or what the name of a preview stands for.
func level(v value) int {
	if n, ok := number(v); ok && n < 1<<31 {
		return int(n)
	}
	if name := strings.TrimSpace(v.Text); name != "" {
		return codenames[name[0]]
	}
	return 0
}
