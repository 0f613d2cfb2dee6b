package android

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// realAPK opens an APK of a package that the development setup installs.
func realAPK(t testing.TB, path string) (*os.File, int64) {
	t.Helper()
	f, err := os.Open(filepath.Join(servicetest.NodeModules(t), path))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	require.NoError(t, err)
	return f, info.Size()
}

const (
	settingsAPK = "io.appium.settings/apks/settings_apk-debug.apk"
	serverAPK   = "appium-uiautomator2-server/apks/appium-uiautomator2-server-v10.6.6.apk"
	demosAPK    = "android-apidemos/apks/ApiDemos-debug.apk"
)

// permissions are names of Android's permissions, written without what they begin with, and
// others as they are.
func permissions(names string, others ...string) (list []string) {
	for _, name := range strings.Fields(names) {
		list = append(list, "android.permission."+name)
	}
	return append(list, others...)
}

// Expected values are those of aapt and apksigner.
func TestReadsRealPackages(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]*artifact.Package{
		settingsAPK: {
			Name: "Appium Settings", PackageName: "io.appium.settings", Version: "8.0.10", VersionCode: "192",
			MinOSVersion: "26", TargetOS: "35", Debuggable: true,
			Permissions: permissions("ACCESS_BACKGROUND_LOCATION ACCESS_COARSE_LOCATION ACCESS_FINE_LOCATION ACCESS_MOCK_LOCATION "+
				"ACCESS_NETWORK_STATE ACCESS_WIFI_STATE BLUETOOTH "+
				"BLUETOOTH_ADMIN BLUETOOTH_CONNECT BLUETOOTH_SCAN CHANGE_CONFIGURATION CHANGE_NETWORK_STATE CHANGE_WIFI_STATE DISABLE_KEYGUARD "+
				"FOREGROUND_SERVICE FOREGROUND_SERVICE_LOCATION FOREGROUND_SERVICE_MEDIA_PROJECTION INTERNET "+
				"READ_EXTERNAL_STORAGE READ_MEDIA_IMAGES READ_PHONE_STATE READ_SMS RECORD_AUDIO SET_ANIMATION_SCALE WAKE_LOCK WRITE_SETTINGS",
				"io.appium.settings.DYNAMIC_RECEIVER_NOT_EXPORTED_PERMISSION"),
			Signer: &artifact.Signer{
				Scheme: "v2", Schemes: []string{"v2"},
				SHA256:  "680dbbc39ab0944796c811b636ace510c8e551317087036cebab0751b0a6190c",
				Subject: "C=US,O=Android,CN=Android Debug",
				Expires: time.Date(2056, 9, 18, 17, 20, 13, 0, time.UTC),
			},
		},
		serverAPK: {
			Name: "io.appium.uiautomator2.server", PackageName: "io.appium.uiautomator2.server", Version: "10.6.6", VersionCode: "278",
			MinOSVersion: "26", TargetOS: "34", Debuggable: true,
			Permissions: permissions("ACCESS_NETWORK_STATE ACCESS_WIFI_STATE BLUETOOTH BLUETOOTH_SCAN CHANGE_WIFI_STATE INTERNET " +
				"QUERY_ALL_PACKAGES REORDER_TASKS WAKE_LOCK"),
			Signer: &artifact.Signer{
				Scheme: "v3", Schemes: []string{"v1", "v2", "v3"},
				SHA256:  "a40da80a59d170caa950cf15c18c454d47a39b26989d8b640ecd745ba71bf5dc",
				Subject: "EMAILADDRESS=android@android.com,CN=Android,OU=Android,O=Android,L=Mountain View,ST=California,C=US",
				Expires: time.Date(2035, 7, 17, 1, 33, 46, 0, time.UTC),
			},
		},
		demosAPK: {
			Name: "API Demos", PackageName: "io.appium.android.apis", Version: "5.0.0", VersionCode: "25",
			MinOSVersion: "17", TargetOS: "33", Debuggable: true,
			Permissions: permissions("ACCESS_COARSE_LOCATION CAMERA INTERNET NFC POST_NOTIFICATIONS READ_CONTACTS RECEIVE_SMS RECORD_AUDIO "+
				"SEND_SMS SET_WALLPAPER VIBRATE WRITE_CONTACTS WRITE_EXTERNAL_STORAGE",
				"io.appium.android.apis.DYNAMIC_RECEIVER_NOT_EXPORTED_PERMISSION"),
			Signer: &artifact.Signer{
				Scheme: "v2", Schemes: []string{"v1", "v2"},
				SHA256:  "18e8534fed30cbf9959e4073e723e3395a3f92fd6b41756d5fbc788f280c1107",
				Subject: "C=US,O=Android,CN=Android Debug",
				Expires: time.Date(2054, 5, 12, 5, 18, 29, 0, time.UTC),
			},
		},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f, size := realAPK(t, path)
			r := &blocks{r: f, seen: map[int64]bool{}}
			p := mustRead(t, r, size)
			require.Equal(t, path != serverAPK, p.Icon != nil)
			p.Icon = nil
			want.Kind, want.Platform = artifact.APK, artifact.Android
			require.Equal(t, want, p)
			t.Logf("%d of %d blocks of 256 KiB, %d calls, %d bytes requested of %d",
				len(r.seen), (size+blockOfCache-1)/blockOfCache, r.calls, r.bytes, size)
			require.LessOrEqual(t, len(r.seen), 8)
		})
	}
}

func mustRead(t testing.TB, r io.ReaderAt, size int64) *artifact.Package {
	t.Helper()
	a, err := archive.Open(r, size)
	require.NoError(t, err)
	p, err := newReader().APK(t.Context(), artifact.Input{Reader: r, Size: size, Vendor: "slipway"}, a)
	require.NoError(t, err)
	return p
}

// blockOfCache is the block of the cache that reads objects by ranges.
const blockOfCache = 256 << 10

// blocks counts the blocks that reads touch.
type blocks struct {
	r     io.ReaderAt
	seen  map[int64]bool
	calls int
	bytes int
}

func (b *blocks) ReadAt(p []byte, off int64) (int, error) {
	b.calls++
	b.bytes += len(p)
	for i := off / blockOfCache; i <= (off+int64(len(p))-1)/blockOfCache; i++ {
		b.seen[i] = true
	}
	return b.r.ReadAt(p, off)
}

func BenchmarkAPK(b *testing.B) {
	for _, path := range []string{settingsAPK, serverAPK, demosAPK} {
		b.Run(filepath.Base(path), func(b *testing.B) {
			f, size := realAPK(b, path)
			b.ReportAllocs()
			for b.Loop() {
				mustRead(b, f, size)
			}
		})
	}
}
