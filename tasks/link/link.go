// Package link makes the absolute links of the installation, for the api's
// answers and for mail. All of them begin with the public URL.
package link

import (
	"net/url"
	"strconv"
	"strings"
)

// Links makes links below a public URL.
type Links struct{ base string }

// New takes the public URL, such as https://qa.example.com.
func New(publicURL string) Links { return Links{strings.TrimRight(publicURL, "/")} }

// Page is an install page, of a project (its page name) or a build (its token).
func (l Links) Page(name string) string { return l.base + "/install/" + url.PathEscape(name) }

// Icon is the picture of a project or build.
func (l Links) Icon(name string) string { return l.Page(name) + "/icon" }

// Download delivers the build's file to a browser that may have it.
func (l Links) Download(token string) string { return l.Page(token) + "/download" }

// Manifest is what an iOS device reads to install; the ticket stands for the
// visitor.
func (l Links) Manifest(token, ticket string) string {
	return l.Page(token) + "/manifest.plist?ticket=" + url.QueryEscape(ticket)
}

// SignIn is the link of a sign-in mail.
func (l Links) SignIn(secret string) string { return l.base + "/session/" + url.PathEscape(secret) }

// Symbols is where the API gives the symbols of a build.
func (l Links) Symbols(buildID int64) string {
	return l.base + "/api/v3/builds/" + strconv.FormatInt(buildID, 10) + "/symbols/download"
}

// Path turns a path of the installation into a link.
func (l Links) Path(path string) string { return l.base + path }
