package environment

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/egress"
)

// accessReferences are the variables that the access of the test names, and its address.
func (t *Test) accessReferences() []step.Reference {
	texts := t.Access.Texts()
	if len(texts) == 0 {
		return nil
	}
	return step.References(nil, append(texts, t.TestURL)...)
}

const authorization = "authorization"

// addAccess puts into the request of a session what the site of the test asks for, and returns
// the values that nobody may read. Headers of the environment stand above it, and must be for
// the same site.
func (t *Test) addAccess(request *browser.Request, known map[step.Reference]authoring.Value) (secrets []string, err error) {
	texts := t.Access.Texts()
	if len(texts) == 0 {
		return nil, nil
	}
	lookup := func(r step.Reference) (string, bool) {
		v, ok := known[r]
		return v.Text, ok
	}
	site, err := t.siteOfAccess(request.Site, lookup)
	if err != nil {
		return nil, err
	}
	request.Site = site
	for i := range texts {
		if texts[i], err = step.Expand(texts[i], lookup); err != nil {
			return nil, &Refusal{store.CodeVariable, "runSettings.basicAuth or clientCertificate: " + err.Error()}
		}
	}
	if t.Access.BasicAuth != nil {
		hidden, err := addBasicAuth(request, texts[0], texts[1])
		if err != nil {
			return nil, err
		}
		secrets, texts = append(secrets, hidden...), texts[2:]
	}
	if t.Access.ClientCertificate == nil {
		return secrets, nil
	}
	if !strings.HasPrefix(strings.ToLower(site), "https://") {
		return nil, &Refusal{store.CodeEnvironment, "runSettings.clientCertificate: the address of the test is none of https"}
	}
	if _, err := tls.X509KeyPair([]byte(texts[0]), []byte(texts[1])); err != nil {
		return nil, &Refusal{store.CodeEnvironment, "runSettings.clientCertificate: certificate and key are no pair in PEM"}
	}
	request.Certificate, request.Key = texts[0], texts[1]
	return append(secrets, texts[1]), nil
}

// siteOfAccess returns the address of the site that asks; other is that of the environment's
// headers, "" without any.
func (t *Test) siteOfAccess(other string, lookup func(step.Reference) (string, bool)) (string, error) {
	site, err := step.Expand(t.TestURL, lookup)
	if err != nil {
		return "", &Refusal{store.CodeVariable, "testUrl: " + err.Error()}
	}
	origin, _, _, _, err := egress.SiteOf(site)
	if err != nil {
		return "", &Refusal{store.CodeEnvironment,
			"runSettings.basicAuth and clientCertificate are for the site of testUrl: the test has no http or https address"}
	}
	if other == "" {
		return site, nil
	}
	if of, _, _, _, err := egress.SiteOf(other); err != nil || of != origin {
		return "", &Refusal{store.CodeEnvironment,
			"the environment has headers for another site than runSettings.basicAuth and clientCertificate: a browser can have one"}
	}
	return site, nil
}

// addBasicAuth adds the header of a user, unless the environment has one.
func addBasicAuth(request *browser.Request, user, password string) (secrets []string, err error) {
	if strings.ContainsRune(user, ':') {
		return nil, &Refusal{store.CodeEnvironment, "runSettings.basicAuth: a user has no colon"}
	}
	given := slices.ContainsFunc(request.Headers, func(h egress.Header) bool { return strings.EqualFold(h.Name, authorization) })
	credentials := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s:%s", user, password))
	if !given {
		request.Headers = append(request.Headers, egress.Header{Name: authorization, Value: "Basic " + credentials})
	}
	return []string{password, credentials}, nil
}
