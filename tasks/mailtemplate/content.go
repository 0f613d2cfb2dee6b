package mailtemplate

import (
	"fmt"
	"strings"
	"time"
)

// Version returns a version with its code as testers know it: "2.1 (21)". Either may
// be empty.
func Version(version, code string) string {
	switch {
	case code == "" || version == code:
		return version
	case version == "":
		return code
	}
	return version + " (" + code + ")"
}

// NewBuild says that a build can be installed.
type NewBuild struct {
	App, Version, VersionCode, Platform string
	Notes                               Notes
	Comment                             string // of who sends it, plain text
	Link                                string // the person's way to install it
	Icon                                string // object key of the app's icon, "" for none
}

// Kind returns KindNewBuild.
func (NewBuild) Kind() string { return KindNewBuild }

func (c NewBuild) values() map[string]Value {
	return map[string]Value{"app": nameValue(c.App), "version": nameValue(Version(c.Version, c.VersionCode)),
		"platform": nameValue(c.Platform), "notes": c.Notes.value, "comment": textValue(c.Comment), "link": linkValue(c.Link),
		namePictureIcon: pictureValue(c.Icon), namePictureQR: pictureValue(c.Link)}
}

// Invitation invites a tester to a build. It has the values of NewBuild.
type Invitation NewBuild

// Kind returns KindInvitation.
func (Invitation) Kind() string { return KindInvitation }

func (c Invitation) values() map[string]Value { return NewBuild(c).values() }

// Welcome greets a new tester of the organization.
type Welcome struct {
	Organization string   // shown in place of the organization's own name when set
	Groups       []string // that the tester was put into
	Link         string   // the tester's page
}

// Kind returns KindWelcome.
func (Welcome) Kind() string { return KindWelcome }

func (c Welcome) values() map[string]Value {
	return map[string]Value{"groups": lineValue(strings.Join(c.Groups, ", ")), "link": linkValue(c.Link)}
}

// SignIn has the link that signs a tester in, once and for some minutes.
type SignIn struct {
	App     string // "" for the tester's own page
	Link    string
	Minutes int
}

// Kind returns KindSignIn.
func (SignIn) Kind() string { return KindSignIn }

func (c SignIn) values() map[string]Value {
	lasts := fmt.Sprintf("%d minutes", c.Minutes)
	if c.Minutes == 1 {
		lasts = "a minute"
	}
	return map[string]Value{"app": nameValue(c.App), "link": linkValue(c.Link), "time": lineValue(lasts)}
}

// UDIDNeeded asks a tester to register an iOS device.
type UDIDNeeded struct {
	App  string
	Link string
}

// Kind returns KindUDIDNeeded.
func (UDIDNeeded) Kind() string { return KindUDIDNeeded }

func (c UDIDNeeded) values() map[string]Value {
	return map[string]Value{"app": nameValue(c.App), "link": linkValue(c.Link)}
}

// KeyRevoked says that a key was ended. Key is its name or the part of it that may
// be shown, never the key; Reason is a whole sentence.
type KeyRevoked struct{ Key, Reason string }

// Kind returns KindKeyRevoked.
func (KeyRevoked) Kind() string { return KindKeyRevoked }

func (c KeyRevoked) values() map[string]Value {
	return map[string]Value{"key": nameValue(c.Key), "reason": lineValue(c.Reason)}
}

// WebhookSuspended says that deliveries to a webhook have ended.
type WebhookSuspended struct{ Name, URL, Reason, Link string }

// Kind returns KindWebhookSuspended.
func (WebhookSuspended) Kind() string { return KindWebhookSuspended }

func (c WebhookSuspended) values() map[string]Value {
	return map[string]Value{"name": nameValue(c.Name), "url": lineValue(c.URL), "reason": lineValue(c.Reason), "link": linkValue(c.Link)}
}

// GateFailed says to who uploaded a build that testers do not hear of it, and why. Reason is
// plain text.
type GateFailed struct{ App, Version, VersionCode, Reason, Link string }

// Kind returns KindGateFailed.
func (GateFailed) Kind() string { return KindGateFailed }

func (c GateFailed) values() map[string]Value {
	return map[string]Value{"app": nameValue(c.App), "version": nameValue(Version(c.Version, c.VersionCode)), "reason": textValue(c.Reason),
		"link": linkValue(c.Link)}
}

// CrashRule says for which groups of crashes a rule fired. Title, Reason and Link are of the first.
type CrashRule struct {
	Rule, CrashProject, Title, Reason, Link string

	Groups []DigestItem // the first of them
	Total  int
}

// Kind returns KindCrashRule.
func (CrashRule) Kind() string { return KindCrashRule }

func (c CrashRule) values() map[string]Value {
	return map[string]Value{"rule": nameValue(c.Rule), "title": nameValue(c.Title), "crash_project": nameValue(c.CrashProject),
		"reason": lineValue(c.Reason), "groups": digestList(c.Groups, c.Total), "link": linkValue(c.Link)}
}

// Digest sums a week up: new groups of crashes and failed runs of suites.
type Digest struct {
	From, To time.Time // the week, To not included
	// CrashGroups and Runs are how many there are. The lists hold the first groups, and
	// the first of the suites to which the runs belong.
	CrashGroups, Runs       int
	CrashGroupList, RunList []DigestItem
	Link                    string // where the rest is, "" for nowhere
}

// DigestItem is one line of a digest.
type DigestItem struct{ Title, Detail string }

// Kind returns KindDigest.
func (Digest) Kind() string { return KindDigest }

func (c Digest) values() map[string]Value {
	values := map[string]Value{"from": lineValue(c.From.UTC().Format(time.DateOnly)), "to": lineValue(c.To.UTC().Format(time.DateOnly)),
		"crash_group_count": numberValue(c.CrashGroups), "run_count": numberValue(c.Runs), "link": linkValue(c.Link),
		"crash_groups": digestList(c.CrashGroupList, c.CrashGroups), "runs": digestList(c.RunList, len(c.RunList))}
	return values
}

// digestList returns items as lines, and how many are left out.
func digestList(items []DigestItem, total int) Value {
	var lines []string
	for _, item := range items {
		text := "- " + oneLine(item.Title, maxSubject)
		if item.Detail != "" {
			text += " (" + oneLine(item.Detail, maxSubject) + ")"
		}
		lines = append(lines, text)
	}
	if more := total - len(items); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return textValue(strings.Join(lines, "\n"))
}
