// Package apple reads apps of iOS, tvOS and macOS, and dSYM archives.
//
// An app is a folder of a zip: Payload/X.app of an IPA, X.app/Contents of a zip
// of a Mac app. Its Info.plist (XML or binary) describes it; a file without one
// that can be read, or without a bundle identifier in it, is no app, which is
// an *artifact.InvalidError. The rest is optional: the icon among the raster
// files that Info.plist names (an asset catalogue cannot be read, so an app
// that has its icon only there has none), the provisioning profile, and
// architectures and UUIDs out of the first bytes of the executable. What of it
// cannot be read becomes a warning.
//
// Everything is bounded: see the constants. Property lists are checked before
// they are decoded, because a decoder that recurses too deep ends the process
// and not only the request; the profile's envelope (CMS) is opened without
// verifying its signature, which the device does; executables are read as
// streams and only as far as their load commands.
//
// The keys are those of Apple's "Information Property List" reference, the
// layout of Mach-O that of <mach-o/loader.h> and <mach-o/fat.h>.
package apple

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// executableReach is how far into the inflated executable of an app its load
// commands are searched for. The first architecture's are in the first 64 KiB; a
// second one lies behind the whole first, and reading that would cost more than
// it is worth: dSYM archives have all of them.
const executableReach = 1 << 20

// maxCopies bounds how many entries of one name are tried: an archive may hold
// several, of which some are garbage.
const maxCopies = 4

// Reader reads apps of Apple's platforms.
type Reader struct {
	// Icons decodes raster icons; required.
	Icons *icon.Decoder
}

// App reads an IPA (iOS or tvOS).
func (r Reader) App(ctx context.Context, in artifact.Input, a *archive.Archive) (*artifact.Package, error) {
	root, ok := appRoot(a.Entries())
	if !ok {
		return nil, &artifact.InvalidError{Reason: "the IPA has no Payload/*.app with an Info.plist"}
	}
	a.Bind(ctx)
	b := bundle{ctx: ctx, archive: a, decoder: r.Icons, root: root}
	info, err := b.info("Info.plist")
	if err != nil {
		return nil, err
	}
	p := packageOf(info, b.name())
	p.Kind, p.Platform = artifact.IPA, mobilePlatform(info)
	p.MinOSVersion = info.text("MinimumOSVersion")
	p.HasSDK = b.hasSDK(in.Vendor, "Frameworks/", "")
	return b.complete(in, p, info, "embedded.mobileprovision", "", b.mobileIcons)
}

// Simulated reads a zip with X.app for the simulator of a Mac. It has no profile, and
// no device installs it.
func (r Reader) Simulated(ctx context.Context, in artifact.Input, a *archive.Archive) (*artifact.Package, error) {
	root, ok := simulatorRoot(a.Entries())
	if !ok {
		return nil, &artifact.InvalidError{Reason: "the archive has no X.app/Info.plist"}
	}
	a.Bind(ctx)
	b := bundle{ctx: ctx, archive: a, decoder: r.Icons, root: root}
	info, err := b.info("Info.plist")
	if err != nil {
		return nil, err
	}
	if !forSimulator(info) {
		return nil, &artifact.InvalidError{Reason: "the archive holds an app for devices outside of Payload: export it as an IPA"}
	}
	p := packageOf(info, b.name())
	p.Kind, p.Platform, p.Simulator = artifact.App, mobilePlatform(info), true
	p.MinOSVersion = info.text("MinimumOSVersion")
	p.HasSDK = b.hasSDK(in.Vendor, "Frameworks/", "")
	return b.complete(in, p, info, "embedded.mobileprovision", "", b.mobileIcons)
}

// forSimulator reports whether an app was built for a simulator: by its SDK, or by
// the platforms that it names.
func forSimulator(info dict) bool {
	for _, name := range append(info.texts("CFBundleSupportedPlatforms"), info.text("DTPlatformName")) {
		if strings.HasSuffix(strings.ToLower(name), "simulator") {
			return true
		}
	}
	return false
}

// Mac reads a zip with X.app.
func (r Reader) Mac(ctx context.Context, in artifact.Input, a *archive.Archive) (*artifact.Package, error) {
	root, ok := macRoot(a.Entries())
	if !ok {
		return nil, &artifact.InvalidError{Reason: "the archive has no X.app/Contents/Info.plist"}
	}
	a.Bind(ctx)
	b := bundle{ctx: ctx, archive: a, decoder: r.Icons, root: root}
	info, err := b.info("Info.plist")
	if err != nil {
		return nil, err
	}
	p := packageOf(info, b.name())
	p.Kind, p.Platform = artifact.Mac, artifact.MacOS
	p.MinOSVersion = info.text("LSMinimumSystemVersion")
	p.HasSDK = b.hasSDK(in.Vendor, "Frameworks/", "Resources/")
	return b.complete(in, p, info, "embedded.provisionprofile", "MacOS/", b.macIcons)
}

// packageOf returns what Info.plist has for both kinds.
func packageOf(info dict, name string) *artifact.Package {
	p := &artifact.Package{
		Name:        info.firstText("CFBundleDisplayName", "CFBundleName"),
		PackageName: info.text("CFBundleIdentifier"),
		Version:     info.text("CFBundleShortVersionString"),
		VersionCode: info.text("CFBundleVersion"),
		TargetOS:    info.firstText("DTPlatformVersion", "DTSDKName"),
		Tool:        xcode(info.text("DTXcode")),
		Permissions: permissions(info),
	}
	if p.Name == "" {
		p.Name = name
	}
	return p
}

// permissions are the keys of Info.plist by which an app says what it asks people for, such
// as NSCameraUsageDescription.
func permissions(info dict) []string {
	names := []string{}
	for key := range info {
		if strings.HasSuffix(key, "UsageDescription") {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return names
}

// complete adds what is outside of Info.plist. None of it fails the package, and the end of
// the context costs what was not read by then; only a reader that fails does.
func (b bundle) complete(in artifact.Input, p *artifact.Package, info dict, profile, folder string,
	icons func(dict) ([]byte, error)) (*artifact.Package, error) {
	steps := []struct {
		part artifact.Part
		do   func() error
	}{
		{artifact.PartProfile, func() error { return b.readProfile(p, profile) }},
		{artifact.PartExecutable, func() error { return b.readExecutable(p, folder, info.text("CFBundleExecutable")) }},
		{artifact.PartIcon, func() error {
			var err error
			p.Icon, err = icons(info)
			return err
		}},
	}
	for _, step := range steps {
		if !in.Begin(step.part, p) {
			continue
		}
		switch err := catchPanic(step.do); {
		case b.ctx.Err() != nil:
			p.Warnings = append(p.Warnings, step.part.Unread("it takes too long"))
		case err != nil:
			p.Warnings = append(p.Warnings, step.part.Unread(err.Error()))
		}
	}
	if err := b.archive.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// readProfile reads the embedded profile; an app from the store has none.
func (b bundle) readProfile(p *artifact.Package, name string) error {
	var failed error
	for _, e := range b.find(name) {
		raw, err := b.archive.Read(e, maxPlist)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		profile, debug, err := parseProfile(raw)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		p.Provisioning, p.Debuggable = profile, p.Debuggable || debug
		return nil
	}
	return failed
}

// readExecutable reads architectures and UUIDs of the main executable.
func (b bundle) readExecutable(p *artifact.Package, folder, name string) error {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return nil
	}
	found := b.find(folder + name)
	if len(found) == 0 {
		return errors.New("it is not in the archive")
	}
	architectures, err := readMachO(openForward(b.archive, found[0], executableReach))
	if err != nil {
		return err
	}
	for _, s := range architectures {
		p.ABIs = append(p.ABIs, s.arch)
		switch {
		case s.err != nil:
			p.Warnings = append(p.Warnings, fmt.Sprintf("the executable's UUID for %s cannot be read: %v", s.arch, s.err))
		case s.uuid != "":
			p.Images = append(p.Images, artifact.Image{Name: name, Arch: s.arch, UUID: s.uuid})
		}
	}
	p.ABIs = unique(p.ABIs)
	return nil
}

// unique sorts a list and removes duplicates.
func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// catchPanic runs a decoder; a panic becomes an error.
func catchPanic(decode func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("its decoder failed")
		}
	}()
	return decode()
}

// mobilePlatform returns iOS or tvOS, by the SDK the app was built with, and by
// the devices it is for (3 is a television).
func mobilePlatform(info dict) artifact.Platform {
	names := append(info.texts("CFBundleSupportedPlatforms"), info.text("DTPlatformName"))
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), "appletv") {
			return artifact.TVOS
		}
	}
	if f := info.texts("UIDeviceFamily"); len(f) == 1 && f[0] == "3" {
		return artifact.TVOS
	}
	return artifact.IOS
}

// xcode returns DTXcode ("1520": two digits of the version, then one each) as
// people know it ("Xcode 15.2").
func xcode(code string) string {
	if len(code) != 4 || strings.Trim(code, "0123456789") != "" {
		return ""
	}
	version := strings.TrimLeft(code[:2], "0") + "." + code[2:3]
	if code[3] != '0' {
		version += "." + code[3:]
	}
	return "Xcode " + version
}
