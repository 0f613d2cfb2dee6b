// Package link returns the absolute links of an installation, for the responses of
// the api and for mail.
//
// All of them begin with the public URL that the installation is configured with:
// what a request had in its Host header is never used, so that nobody can make
// Slipway send mail with links to elsewhere. Names, tokens and secrets are escaped;
// a name never adds a segment or a query to a link.
//
// The package knows the paths of pages and files that a link may lead to; the
// routes behind them are those of api/install and of the API. It opens nothing and
// cannot fail.
package link

import (
	"net/url"
	"strconv"
	"strings"
)

// Links are the links below a public URL.
type Links struct{ base string }

// New returns the links below a public URL, such as https://qa.example.com.
func New(publicURL string) Links { return Links{strings.TrimRight(publicURL, "/")} }

// Secure reports whether the public URL is https.
func (l Links) Secure() bool { return strings.HasPrefix(strings.ToLower(l.base), "https:") }

// Page returns the install page of a project (by page name) or a build (by token).
func (l Links) Page(name string) string { return l.base + "/install/" + url.PathEscape(name) }

// Icon returns the icon of a project or build.
func (l Links) Icon(name string) string { return l.Page(name) + "/icon" }

// Download returns where a visitor who may install the build downloads its file.
func (l Links) Download(token string) string { return l.Page(token) + "/download" }

// Manifest returns the manifest that an iOS device reads to install; the ticket
// identifies the visitor.
func (l Links) Manifest(token, ticket string) string {
	return l.Page(token) + "/manifest.plist?ticket=" + url.QueryEscape(ticket)
}

// SignIn returns the link of a sign-in mail.
func (l Links) SignIn(secret string) string { return l.base + "/session/" + url.PathEscape(secret) }

// Unsubscribe returns the page where a person ends mail; the token names them.
func (l Links) Unsubscribe(token string) string {
	return l.base + "/mail/unsubscribe/" + url.PathEscape(token)
}

// Invite returns the personal link of an invitation to a build.
func (l Links) Invite(secret string) string { return l.base + "/invite/" + url.PathEscape(secret) }

// Symbols returns where the API serves the symbols of a build.
func (l Links) Symbols(buildID int64) string {
	return l.base + "/api/v3/builds/" + strconv.FormatInt(buildID, 10) + "/symbols/download"
}

// Path returns the link of a path of the installation.
func (l Links) Path(path string) string { return l.base + path }
