package report

import (
	"fmt"
	"strings"
)

// minimal holds the eight required members and nothing else.
const minimal = `{"uuid":"0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0","timestamp":1700000000,"lang":"c","langVersion":"11","agent":"curl",` +
	`"agentVersion":"1","threads":{"0":{}},"mainThread":"0"}`

// with adds members to the minimal report.
func with(members string) string { return minimal[:len(minimal)-1] + "," + members + "}" }

// frame returns a minimal report with one frame of these members.
func frame(members string) string {
	return strings.Replace(minimal, `"0":{}`, `"0":{"stack":[{`+members+`}]}`, 1)
}

// samples are reports in the shapes that clients send.
var samples = map[string]string{
	"minimal": minimal,
	"node":    nodeReport(12, 12, 3),
	"browser": `{"uuid":"a3e0c6d2-91f4-4e3e-bb8a-2d6b4d9f5a10","timestamp":1700000001,"agent":"@backtrace/browser","agentVersion":"0.4.2",` +
		`"lang":"browser","langVersion":"Chrome/120","classifiers":["TypeError"],"mainThread":"main","threads":{"main":{"fault":true,` +
		`"name":"main","stack":[{"funcName":"onClick","library":"https://app.example/static/main.3f9a1c.js","line":1,"column":48211,` +
		`"debug_identifier":"9d9bb9d6"},{"funcName":"anonymous","library":"https://app.example/static/main.3f9a1c.js","line":null,` +
		`"column":null}]}},"symbolication":"sourcemap","attributes":{"application":"shop","application.session":"0b1c2d3e",` +
		`"hostname":"app.example","window.innerWidth":1280,"error.message":"Cannot read properties of undefined (reading 'id')",` +
		`"device.touch":false,"referrer":null,"load":0.25},"annotations":{"Url":"https://app.example/cart?token=abc&x=1"}}`,
	"python": `{"uuid": "5f0e7a66-9a0c-4c5c-8a43-6c0de1a2b3c4", "timestamp": 1700000002, "lang": "python", "langVersion": "3.12.1", ` +
		`"agent": "backtrace-python", "agentVersion": "0.4.0", "mainThread": "140735212345678", "entryThread": "140735212345600", "cwd": ` +
		`"/srv", "attributes": {"error.type": "Exception", "error.message": "boom \udc80"}, "annotations": {"Environment Variables": {"PATH": ` +
		`"/usr/bin", "AWS_SECRET_ACCESS_KEY": "wJalr", "PWD": "/srv"}}, "entrySourceCode": "/srv/app.py", "classifiers": ["ValueError"], ` +
		`"threads": {"140735212345678": {"name": "worker", "stack": [{"funcName": "run", "line": 17, "library": "/srv/app.py", "sourceCode": ` +
		`"/srv/app.py"}]}, "140735212345600": {"name": "MainThread"}}, "sourceCode": {"/srv/app.py": {"minLine": 17, "maxLine": 17, "path": ` +
		`"/srv/app.py", "text": "def run():\n  pass", "startLine": 7, "startColumn": 1, "tabWidth": 8}}}`,
	"java": `{"uuid":"6c1f8b77-ab1d-4d6d-9b54-7d1ef2b3c4d5","symbolication":"proguard","timestamp":1700000003,"langVersion":"17",` +
		`"agentVersion":"3.7.0","attributes":{"symbolication_id":"f6c3e8d4","device.cores":"8","app.started":"true"},"mainThread":"main",` +
		`"classifiers":["java.lang.NullPointerException"],"annotations":{"Environment Variables":{"ANDROID_ROOT":"/system"},` +
		`"Exception":{"message":"x"}},"sourceCode":{"c0ffee":{},"decaf":{"startLine":4,"path":"Main.java"}},"agent":"backtrace-android",` +
		`"lang":"java","threads":{"finalizer":{"name":"finalizer","fault":false,"stack":[]},"main":{"name":"main","fault":true,` +
		`"stack":[{"funcName":"a.b.c","line":4,"sourceCode":"decaf","library":""},{"funcName":"a.b.d","sourceCode":"c0ffee"}]}}}`,
	"unity": `{"uuid":"7d2f9c88-bc2e-4e7e-8c65-8e2ff3c4d5e6","timestamp":1700000004,"lang":"csharp","langVersion":"Mono",` +
		`"agent":"backtrace-unity","agentVersion":"3.7.1","mainThread":"main","classifiers":null,"attributes":{"_mod_fingerprint":"` +
		strings.Repeat("ab", 32) + `","_mod_duplicate":"3","gc.heap.used":123456},"annotations":{"Game objects":[{"name":"Player",` +
		`"children":[{"name":"Camera","position.x":0.5}]}]},"threads":{"main":{"name":"main","fault":true,` +
		`"stack":[{"funcName":"Player.Update()","line":0,"il":12,"metadata_token":100663297,"column":0,"address":140,"library":"Player",` +
		`"assembly":"Assembly-CSharp"},{"funcName":"","line":0,"column":0,"address":0,"library":"UnityEngine"}]}},` +
		`"sourceCode":{"f1":{"id":"f1","type":"Text","title":"Log File","highlightLine":false,"text":"[Log] start\n[Log] end"}}}`,
	"go": `{"agent":"backtrace-go","agentVersion":"0.0.0","annotations":{"Environment Variables":{"GOPATH":"/go","API_KEY":"k"}},` +
		`"attributes":{"hostname":"h","cpu.boottime":1.7e9},"classifiers":["*errors.errorString"],"lang":"go","langVersion":"go1.21",` +
		`"mainThread":"1","sourceCode":{"main.go":{"text":"package main\n","startLine":1,"startColumn":1,"startPos":0,"path":"main.go",` +
		`"tabWidth":8}},"threads":{"1":{"name":"running","fault":true,"stack":[{"funcName":"main.main","library":"main","sourceCode":"main.go",` +
		`"line":"12"}]}},"timestamp":1700000005,"uuid":"8e3fad99cd3f4f8f9d769f3004d5e6f7"}`,
	"native": `{"uuid":"9f40beaade405090ae87a04115e6f708","timestamp":1700000006,"lang":"c","langVersion":"x","agent":"a",` +
		`"agentVersion":"1","threads":{"7":{"name":"t","fault":true,"stack":[{"address":"0x7fff1234","registers":{"rip":"140734492676660",` +
		`"eflags":582},"guessed_frame":true,"faulted":true},{"address":140734492676660}]}},"mainThread":"7","arch":{"name":"x64",` +
		`"registers":{"rip":"u64","eflags":"u32"}},"fingerprint":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",` +
		`"memory":[{"start":"0x7fff0000","data":"AAECAw==","perms":{"read":true,"write":true,"exec":false}},{"start":4096,"size":16}],` +
		`"modules":[{"start":"140734492672000","size":8192,"code_file":"/lib/libc.so.6","version":"2.36","debug_file":"libc.so.6",` +
		`"debug_identifier":"AB12","debug_file_exists":false}]}`,
	"body": `{"body":` + minimal + `}`,
	"text": `{"upload_file":"report.json","body":` + fmt.Sprintf("%q", minimal) + `}`,
	"escapes": `{"uuid":"0b1c2d3e4f5041628374\u00395a6b7c8d9e0","timestamp":-1,"lang":"\u0000","langVersion":"","agent":"\ud83d\ude00",` +
		`"agentVersion":"\ud83d","thre\u0061ds":{"\u0031":{"name":"a\u0000b"}},"mainThread":"1","annotations":["PASSWORD=a\nb",` +
		`"x\u0026token=a\u0026b","https:\/\/u:p@h\/","{}"]}`,
}

// nodeReport is a report in the shape of the Node client: 4 KB with 12
// frames, 12 variables and 3 breadcrumbs, 60 KB with 20, 60 and 240.
func nodeReport(frames, variables, breadcrumbs int) string {
	var b strings.Builder
	b.WriteString(`{"uuid":"2d5e7a6b-9a0c-4c5c-8a43-6c0de1a2b3c4","timestamp":1700000000,"agent":"@backtrace/node","agentVersion":"0.8.3",` +
		`"lang":"nodejs","langVersion":"20.10.0","classifiers":["TypeError"],"mainThread":"main","threads":{"main":{"fault":true,` +
		`"name":"main","stack":[`)
	for i := range frames {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"funcName":"Layer.handle [as handle_request]","library":"/srv/app/node_modules/express/lib/router/layer%d.js",`+
			`"line":%d,"column":%d}`, i, 10+i, 5+i)
	}
	b.WriteString(`]}},"attributes":{"application":"shop","application.version":"1.4.2","application.session":"5f0e7a66-9a0c",` +
		`"hostname":"web-3","error.message":"Cannot read properties of undefined (reading 'id')","process.age":86400,"vm.rss.size":123456789,` +
		`"system.memory.total":16777216,"cpu.count":8,"uname.sysname":"Linux","debug":false,"load":0.25},` +
		`"annotations":{"Environment Variables":{`)
	for i := range variables {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"SERVICE_%d_ADDRESS":"tcp://10.0.%d.1:8080"`, i, i)
	}
	b.WriteString(`,"DB_PASSWORD":"hunter2"},"Breadcrumbs":[`)
	for i := range breadcrumbs {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"timestamp":1700000000%03d,"level":"info","type":"http",`+
			`"message":"GET https://api.example/v1/items/%d?page=2&size=50 answered \"200\"","attributes":{"duration":%d.5,"method":"GET",`+
			`"retried":false}}`, i, i, i, i)
	}
	b.WriteString(`]}}`)
	return b.String()
}
