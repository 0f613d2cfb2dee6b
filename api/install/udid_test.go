package install_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/require"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/api/install/enrolment"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

const (
	listed   = "00008030-001A2B3C4D5E6F70" // in the profile of apple
	unlisted = "0123456789abcdef0123456789abcdef01234567"
)

// phone is a device that answers configuration profiles.
type phone struct {
	t           testing.TB
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	issuer      *x509.Certificate
}

func newPhone(t testing.TB) *phone {
	t.Helper()
	p := &phone{t: t}
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Issuer of devices"},
		IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, authority.Public(), authority)
	require.NoError(t, err)
	p.issuer, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	p.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err = x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Device"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}, p.issuer, p.key.Public(), authority)
	require.NoError(t, err)
	p.certificate, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	return p
}

// answer is what the device posts for a profile.
func (p *phone) answer(profile []byte, udid string) []byte {
	p.t.Helper()
	var asked struct {
		Content struct {
			URL       string `plist:"URL"`
			Challenge string `plist:"Challenge"`
		} `plist:"PayloadContent"`
	}
	_, err := plist.Unmarshal(profile, &asked)
	require.NoError(p.t, err)
	require.Contains(p.t, asked.Content.URL, "/udid/answer")
	return p.sign(map[string]string{"UDID": udid, "PRODUCT": "iPhone16,2", "VERSION": "22G86", "CHALLENGE": asked.Content.Challenge})
}

func (p *phone) sign(attributes map[string]string) []byte {
	p.t.Helper()
	content, err := plist.Marshal(attributes, plist.XMLFormat)
	require.NoError(p.t, err)
	message, err := pkcs7.NewSignedData(content)
	require.NoError(p.t, err)
	require.NoError(p.t, message.AddSigner(p.certificate, p.key, pkcs7.SignerInfoConfig{}))
	der, err := message.Finish()
	require.NoError(p.t, err)
	return der
}

// post sends an answer as a device does: without cookies and without an origin.
func (w *world) post(path string, body []byte) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, public+path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/pkcs7-signature")
	r.Header.Set("User-Agent", "Profile/1.0")
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, r)
	return rec
}

// profile downloads a configuration profile.
func (w *world) profile(cookie *http.Cookie, build string) []byte {
	w.t.Helper()
	path := "/udid"
	if build != "" {
		path += "?build=" + build
	}
	rec := w.do(request{path: path, agent: onApple, cookie: cookie})
	require.Equal(w.t, http.StatusOK, rec.Code, rec.Body)
	require.Equal(w.t, enrolment.ContentType, rec.Header().Get("Content-Type"))
	require.Equal(w.t, "private, no-store", rec.Header().Get("Cache-Control"))
	return rec.Body.Bytes()
}

func forAllApple(u *distribution.Upload) { forAll(u); apple(u); u.Slug = "harbour-ios" }

func (w *world) hook() {
	w.t.Helper()
	w.exec(`insert into webhooks (organization_id, name, url, status, actions, secret)
		values ($1, 'all', 'https://example.com/hook', 'active', '{new-udid,feedback}', 'sealed')`, w.org)
}

func TestRegisterDevice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(forAllApple).Build
	tess := w.member("tess@example.com", account.Tester)
	w.hook()
	cookie := w.enter("tess@example.com")
	device := newPhone(t)

	page := w.do(request{path: "/install/harbour-ios", agent: onApple, cookie: cookie}).Body.String()
	require.Contains(t, page, `href="/udid/register?build=`+made.Token+`"`)
	register := w.do(request{path: "/udid/register?build=" + made.Token, agent: onApple, cookie: cookie}).Body.String()
	require.Contains(t, register, `href="/udid?build=`+made.Token+`"`)
	require.NotContains(t, register, "<svg")
	require.Contains(t, w.see(cookie, "/udid/register").Body.String(), "<svg", "the code, on another device")

	profile := w.profile(cookie, made.Token)
	var top map[string]any
	_, err := plist.Unmarshal(profile, &top)
	require.NoError(t, err)
	require.Equal(t, "Profile Service", top["PayloadType"])
	require.Equal(t, "com.example.qa.udid", top["PayloadIdentifier"])
	require.Equal(t, "Example Ships", top["PayloadOrganization"])
	require.Equal(t, public+"/udid/answer", top["PayloadContent"].(map[string]any)["URL"])

	rec := w.post("/udid/answer", device.answer(profile, unlisted))
	require.Equal(t, http.StatusMovedPermanently, rec.Code, rec.Body)
	location, found := strings.CutPrefix(rec.Header().Get("Location"), public)
	require.True(t, found)
	done := w.get(location, onApple) // in a browser that nobody signed in with
	require.Equal(t, http.StatusOK, done.Code)
	require.Contains(t, done.Body.String(), unlisted)
	require.Contains(t, done.Body.String(), "not in the provisioning profile")

	var row struct {
		User     int64  `db:"user_id"`
		Product  string `db:"product"`
		Verified string `db:"verified"`
		Source   string `db:"source"`
	}
	require.NoError(t, w.db.GetContext(t.Context(), &row,
		`select user_id, product, verified, source from tester_devices where udid = $1`, unlisted))
	require.Equal(t, tess, row.User)
	require.Equal(t, []string{"iPhone16,2", "signature", "profile"}, []string{row.Product, row.Verified, row.Source})
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1 and actor = 'tess@example.com' and organization_id = $2`,
		account.DeviceRegistered, w.org))
	require.Equal(t, 1, w.count(`select count(*) from webhook_deliveries`))
	require.Equal(t, 1, w.count(`select count(*) from events where action = 'new-udid' and build_id = $1
		and body->>'udid' = $2 and body->>'device' = 'iPhone16,2' and body->>'email' = 'tess@example.com'`, made.ID, unlisted))

	// The page says what it knows of the person's devices.
	page = w.do(request{path: "/install/harbour-ios", agent: onApple, cookie: cookie}).Body.String()
	require.Contains(t, page, "Your registered iPhone is not in the provisioning profile")
	require.Contains(t, page, "Install anyway")
	rec = w.post("/udid/answer", device.answer(w.profile(cookie, made.Token), strings.ToLower(listed)))
	require.Equal(t, http.StatusMovedPermanently, rec.Code, rec.Body)
	location, _ = strings.CutPrefix(rec.Header().Get("Location"), public)
	require.Contains(t, w.get(location, onApple).Body.String(), "you can install this build")
	page = w.do(request{path: "/install/harbour-ios", agent: onApple, cookie: cookie}).Body.String()
	require.Contains(t, page, "is in the provisioning profile of this build")
	require.NotContains(t, page, "Install anyway")

	// The list, and removal of one's own only.
	list := w.see(cookie, "/me/devices").Body.String()
	require.Contains(t, list, listed)
	require.Contains(t, list, unlisted)
	id := w.count(`select id from tester_devices where udid = $1`, unlisted)
	w.member("ann@example.com", account.Tester)
	stranger := w.enter("ann@example.com")
	require.NotContains(t, w.see(stranger, "/me/devices").Body.String(), unlisted)
	remove := func(cookie *http.Cookie) int {
		return w.do(request{path: fmt.Sprintf("/me/devices/%d/remove", id), cookie: cookie, form: url.Values{}}).Code
	}
	require.Equal(t, http.StatusNotFound, remove(stranger))
	require.Equal(t, http.StatusSeeOther, remove(cookie))
	require.Equal(t, http.StatusNotFound, remove(cookie))
	require.NotContains(t, w.see(cookie, "/me/devices").Body.String(), unlisted)
}

func TestAnswerRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(forAllApple)
	tess := w.member("tess@example.com", account.Tester)
	cookie := w.enter("tess@example.com")
	device := newPhone(t)
	profile := w.profile(cookie, "")
	good := device.answer(profile, listed)
	refuse := func(status int, body []byte, why string) {
		t.Helper()
		rec := w.post("/udid/answer", body)
		require.Equal(t, status, rec.Code, why)
		require.Empty(t, rec.Header().Get("Location"), why)
		require.True(t, strings.HasPrefix(rec.Header().Get("Content-Type"), "text/plain"), why)
	}
	refuse(http.StatusBadRequest, nil, "nothing")
	refuse(http.StatusBadRequest, []byte("UDID="+listed), "text")
	refuse(http.StatusBadRequest, bytes.Replace(good, []byte("00008030"), []byte("00008031"), 1), "altered")
	refuse(http.StatusRequestEntityTooLarge, bytes.Repeat([]byte("x"), enrolment.MaxAnswer+1), "oversized")
	refuse(http.StatusBadRequest, device.answer(profile, "not-a-udid"), "a UDID of no form")
	refuse(http.StatusForbidden, device.sign(map[string]string{"UDID": listed, "CHALLENGE": "invented"}), "an invented challenge")
	challenge := challengeIn(t, profile)
	parts := strings.Split(challenge, ".")
	for i := range parts {
		changed := append([]string{}, parts...)
		changed[i] = "1" + changed[i]
		refuse(http.StatusForbidden, device.sign(map[string]string{"UDID": listed, "CHALLENGE": strings.Join(changed, ".")}),
			"an altered challenge")
	}
	w.later.Store(int64(31 * time.Minute))
	refuse(http.StatusForbidden, good, "too late")
	w.later.Store(0)
	w.exec(`update memberships set blocked_at = now() where user_id = $1`, tess)
	refuse(http.StatusForbidden, good, "blocked")
	w.exec(`update memberships set blocked_at = null where user_id = $1`, tess)
	require.Zero(t, w.count(`select count(*) from tester_devices`))

	require.Equal(t, http.StatusMovedPermanently, w.post("/udid/answer", good).Code)
	require.Equal(t, http.StatusMovedPermanently, w.post("/udid/answer", good).Code, "a device that sends again")
	require.Equal(t, 1, w.count(`select count(*) from tester_devices`))
	refuse(http.StatusConflict, device.answer(profile, unlisted), "a second device with one profile")
	for _, result := range []string{"", "x", "1.1.0.9999999999.abc", challenge} {
		require.Equal(t, http.StatusNotFound, w.get("/udid/done?result="+url.QueryEscape(result), onApple).Code, result)
	}
	w.exec(`delete from memberships where user_id = $1`, tess)
	refuse(http.StatusForbidden, good, "removed")

	// Builds of others are no part of a profile.
	owner := w.enter("owner@example.com")
	for _, build := range []string{"unknown", "../x", strings.Repeat("x", 200)} {
		require.Equal(t, http.StatusNotFound, w.do(request{path: "/udid?build=" + url.QueryEscape(build), cookie: owner}).Code, build)
	}
}

func challengeIn(t *testing.T, profile []byte) string {
	var top map[string]any
	_, err := plist.Unmarshal(profile, &top)
	require.NoError(t, err)
	return top["PayloadContent"].(map[string]any)["Challenge"].(string)
}

// TestIssuers configures who issues devices their certificates, and a certificate that
// signs profiles.
func TestIssuers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(forAllApple)
	w.member("tess@example.com", account.Tester)
	device, forger := newPhone(t), newPhone(t)
	key, err := x509.MarshalPKCS8PrivateKey(device.key)
	require.NoError(t, err)
	signer, err := enrolment.NewSigner(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: device.certificate.Raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	require.NoError(t, err)
	w.serve(public, func(c *install.Config) { c.Signer, c.DeviceIssuers = signer, []*x509.Certificate{device.issuer} })
	signed, err := pkcs7.Parse(w.profile(w.enter("tess@example.com"), ""))
	require.NoError(t, err)
	require.NoError(t, signed.Verify())
	rec := w.post("/udid/answer", forger.answer(signed.Content, listed))
	require.Equal(t, http.StatusForbidden, rec.Code)
	require.Contains(t, rec.Body.String(), "Apple issued")
	require.Equal(t, http.StatusMovedPermanently, w.post("/udid/answer", device.answer(signed.Content, listed)).Code)
	require.Equal(t, 1, w.count(`select count(*) from tester_devices where verified = 'certificate'`))
}
