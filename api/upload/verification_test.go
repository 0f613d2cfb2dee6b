package upload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What testers read on the page, the uploading job hears, and its signature is
// verified by a task that the upload's transaction has.
func TestCautionsOfUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	first := w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1.1")))
	require.Equal(t, "pending", first["verification"])
	require.Contains(t, first["warnings"].([]any)[0], "No provisioning profile was found")
	require.Len(t, first["warnings"], 1)
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'build:verify' and payload ->> 'build_id' = $1`, first["build_id"]))
	require.Equal(t, "", first["task_id"], "nobody asked for it")

	again := w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1.0")))
	require.Contains(t, again["warnings"].([]any)[1], "not above that of the build before")
}

func TestSimulatorApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	info := `<?xml version="1.0"?><plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.demo</string>
		<key>CFBundleShortVersionString</key><string>1.2</string>
		<key>CFBundleSupportedPlatforms</key><array><string>iPhoneSimulator</string></array></dict></plist>`
	got := w.upload(w.key(), file("file", "Demo.zip", zipped(map[string]string{"Demo.app/Info.plist": info})), textField("notify", "on"))
	require.Equal(t, "iOS", got["platform"])
	require.Equal(t, true, got["simulator"])
	require.Equal(t, "unchecked", got["verification"])
	require.Contains(t, got["warnings"].([]any)[0], "cannot be installed")
	require.Contains(t, got["warnings"].([]any)[1], "simulator of a Mac")
	require.Zero(t, w.count(`select count(*) from tasks where kind in ('build:verify', 'build:notify')`))
	require.Equal(t, 1, w.count(`select count(*) from builds where kind = 'app' and simulator and file_name = 'Demo.zip'`))

	// One for devices is an IPA that was not exported.
	device := `<?xml version="1.0"?><plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.demo</string></dict></plist>`
	status, out := w.post("/api/upload", nil, w.key(), file("file", "Demo.zip", zipped(map[string]string{"Demo.app/Info.plist": device})))
	require.Equal(t, 400, status, out)
}
