package object

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// linkPath begins a link to an object in a folder:
//
//	BASE/objects/KEY?exp=UNIX&name=FILE&type=TYPE&inline=1&sig=SIGNATURE
//
// name, type and inline are left out when not used. The signature is
// HMAC-SHA256, base64url without padding, over the method, the key and the
// other parameters in the order in which url.Values encodes them. GET's
// signature serves HEAD too.
const linkPath = "/objects/"

// maxLinkQuery bounds the query that ServeSigned parses for anyone: a file name
// of 200 bytes and a type of 200, percent-encoded, stay below 1.5 KiB.
const maxLinkQuery = 4 << 10

// deriveLinkKey separates links from whatever else the key may sign.
func deriveLinkKey(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("slipway object link v1"))
	return mac.Sum(nil)
}

func signature(linkKey []byte, key string, query url.Values) string {
	mac := hmac.New(sha256.New, linkKey)
	// A key holds no newline, and Encode writes none: the text is unambiguous.
	io.WriteString(mac, "GET\n"+key+"\n"+query.Encode())
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// SignGet signs a link to ServeSigned.
func (f *Folder) SignGet(_ context.Context, key string, ttl time.Duration, opts SignOptions) (string, error) {
	_, typeErr := WriteOptions{ContentType: opts.ContentType}.contentType()
	if err := errors.Join(checkKey(key), checkTTL(ttl), typeErr); err != nil {
		return "", err
	}
	if f.baseURL == nil {
		return "", errors.New("sign link: the folder store has no public URL")
	}
	// Rounded up: a link never lives shorter than ttl.
	expires := f.now().Add(ttl + time.Second - 1).Unix()
	query := url.Values{"exp": {strconv.FormatInt(expires, 10)}}
	if name := cleanFileName(opts.FileName); name != "" {
		query.Set("name", name)
	}
	if opts.ContentType != "" {
		query.Set("type", opts.ContentType)
	}
	if opts.Inline && InlineType(opts.ContentType) {
		query.Set("inline", "1")
	}
	query.Set("sig", signature(f.linkKeys[0], key, query))
	link := *f.baseURL
	link.Path += linkPath + key
	link.RawQuery = query.Encode()
	return link.String(), nil
}

// ServeSigned serves the links of SignGet. It expects the path as it is in
// the link, /objects/ and the key, without the path of PublicURL. GET and HEAD,
// ranges and conditional requests; 403 for a link that was altered or has
// expired, 404 for an object that is gone. Errors are {"error":"..."}.
func (f *Folder) ServeSigned() http.Handler {
	return http.HandlerFunc(f.serveSigned)
}

func (f *Folder) serveSigned(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		linkError(w, http.StatusMethodNotAllowed, "only GET and HEAD are allowed")
		return
	}
	key, opts, ok := f.verify(r.URL)
	if !ok {
		linkError(w, http.StatusForbidden, "the link is not valid")
		return
	}
	if !f.now().Before(opts.expires) {
		linkError(w, http.StatusForbidden, "the link has expired")
		return
	}
	file, info, err := f.openObject(key)
	switch {
	case errors.Is(err, ErrNotFound):
		linkError(w, http.StatusNotFound, "the file does not exist any more")
		return
	case err != nil:
		linkError(w, http.StatusInternalServerError, "the file cannot be read")
		return
	}
	defer file.Close()
	contentType := opts.ContentType
	if contentType == "" {
		contentType = info.ContentType
	}
	typeHeader, disposition := contentHeaders(opts.SignOptions, contentType)
	header.Set("Content-Type", typeHeader)
	header.Set("Content-Disposition", disposition)
	header.Set("ETag", `"`+info.ETag+`"`)
	// The link is a credential: neither shared caches nor other sites get it.
	header.Set("Cache-Control", "private")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	http.ServeContent(w, r, "", info.ModTime, io.NewSectionReader(file, 0, info.Size))
}

// linkOptions are the parameters of a link whose signature is valid.
type linkOptions struct {
	SignOptions
	expires time.Time
}

// verify refuses unknown and repeated parameters with the rest: the signature
// covers the whole query.
func (f *Folder) verify(u *url.URL) (string, linkOptions, bool) {
	key, ok := strings.CutPrefix(u.Path, linkPath)
	if !ok || !ValidKey(key) || len(f.linkKeys) == 0 || len(u.RawQuery) > maxLinkQuery {
		return "", linkOptions{}, false
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || len(query["sig"]) != 1 {
		return "", linkOptions{}, false
	}
	given := query.Get("sig")
	query.Del("sig")
	if !f.signed(given, key, query) {
		return "", linkOptions{}, false
	}
	expires, err := strconv.ParseInt(query.Get("exp"), 10, 64)
	if err != nil {
		return "", linkOptions{}, false
	}
	return key, linkOptions{
		SignOptions: SignOptions{FileName: query.Get("name"), ContentType: query.Get("type"), Inline: query.Get("inline") == "1"},
		expires:     time.Unix(expires, 0),
	}, true
}

// signed reports whether one of the keys made the signature.
func (f *Folder) signed(given, key string, query url.Values) bool {
	valid := false
	for _, linkKey := range f.linkKeys {
		valid = hmac.Equal([]byte(given), []byte(signature(linkKey, key, query))) || valid
	}
	return valid
}

func linkError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The status is out: an error here means that the client has left.
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message})
}
