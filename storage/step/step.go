// Package step holds the documents of tests that every area shares: steps with
// their tools, selectors and fingerprints. What a test runs on is in package capability,
// what a run found out about each step in package playback.
//
// A step is one tool with its arguments. Tools are those of the interface
// (go_to_url, click, assert ...) and a few more; Validate knows what each one
// needs and reports the member that is wrong by its path. A selector locates an
// element by CSS or XPath; its fingerprint describes the element, so that an action
// finds it again after a page has changed. Assertions never use
// fingerprints.
//
// Text arguments may contain variables ({{name}}, {{team:name}}): Expand replaces
// them when a step executes, and the replaced text is never stored. Package redaction
// removes the values of secret variables from the text of pages and logs.
//
// The package is a leaf: it reads documents from outside, so everything in them is
// bounded, and it opens no file or connection.
package step

// The tools.
const (
	GoToURL        = "go_to_url"        // url
	Click          = "click"            // selector
	InputText      = "input_text"       // selector, text
	Select         = "select"           // selector, optionValue
	EnterKeySubmit = "enter_key_submit" // the focused element
	SwitchWindow   = "switch_window"    // matcher: title, url, index or new
	Pause          = "pause"            // time in ms
	ScrollDocument = "scroll_document"  // direction
	ScrollElement  = "scroll_element"   // selector, direction
	Assert         = "assert"           // selector, not, matcher
	InShadowRoot   = "in_shadow_root"   // selector of the host, tool
	Finish         = "finish"           // the end of the test

	// Further ones, of Slipway.
	InFrame      = "in_frame"      // selector of the frame, tool
	Hover        = "hover"         // selector
	Drag         = "drag"          // selector, target
	UploadFile   = "upload_file"   // selector, file
	PressKey     = "press_key"     // key, selector optional
	HandleDialog = "handle_dialog" // action, text for a prompt
	DoubleClick  = "double_click"  // selector
	RightClick   = "right_click"   // selector
	TypeKeys     = "type_keys"     // text key by key, selector optional; what is there stays
	Back         = "back"          // in the history of the window
	Forward      = "forward"
	Reload       = "reload"
	SetViewport  = "set_viewport" // width, height in CSS pixels
	RunGroup     = "run_group"    // groupId, with: the steps of a group stand in its place

	// What the browser requests and stores.
	Route           = "route"             // url; answer, abort, change or delay; method, times
	Unroute         = "unroute"           // url of a route; without it, all routes end
	WaitForRequest  = "wait_for_request"  // url, method
	WaitForResponse = "wait_for_response" // url, method, status
	WaitForURL      = "wait_for_url"      // url, or matcher url
	WaitForDownload = "wait_for_download" // name
)

// The matchers of an assertion. Those without a selector compare the page.
const (
	Visible     = "visible"
	Hidden      = "hidden"
	TextIs      = "text"  // args.value, args.mode: equals (default), contains, matches
	ValueIs     = "value" // as text
	Count       = "count" // args.value, a number; args.mode: equals, at_least, at_most
	URLIs       = "url"   // no selector; as text
	TitleIs     = "title" // no selector; as text
	Enabled     = "enabled"
	Checked     = "checked"
	Focused     = "focused"   // keys go there
	AttributeIs = "attribute" // args.name; as text

	// No selector: what the browser did since the test began.
	RequestIs  = "request"  // args.url, method, count with mode, body
	ResponseIs = "response" // args.url, method, status, body, header
	DownloadIs = "download" // args.name, size; as text
	ConsoleIs  = "console"  // no errors, but for those that args.ignore match
	// The selector of these two is optional: without one they look at the page.
	Accessible = "accessible" // args.impact, rules, withoutRules, tags
	LooksLike  = "looks_like" // args.name, fullPage, masks, threshold, sensitivity
)

// The matchers of switch_window.
const (
	WindowTitle = "title" // args.value, contained in the title
	WindowURL   = "url"   // args.value, contained in the address
	WindowIndex = "index" // args.value, from 0 in the order of opening
	WindowNew   = "new"   // the one opened last
)

// Step is one step of a test.
type Step struct {
	ID   string `json:"id"`
	Tool Tool   `json:"tool"`
	// Optional steps may fail: the popup that is there only sometimes. Not
	// allowed for assertions.
	Optional bool `json:"optional,omitempty"`
	// When is a condition without which the step is skipped.
	When *Condition `json:"when,omitempty"`
	// TimeoutMS is how long the step waits for its element; 0: the run's.
	TimeoutMS int `json:"timeoutMs,omitempty"`
	// Result and ScreenshotID are from the time when the step was recorded; nil for
	// imported steps.
	Result       *Outcome `json:"result"`
	ScreenshotID string   `json:"screenshotId,omitempty"`
}

// Condition is an assertion that decides whether a step is executed. It looks where
// the step acts: in the same frames and shadow roots. A condition that does not hold
// within its time skips the step and fails nothing.
type Condition struct {
	Selector *Selector `json:"selector,omitempty"`
	Not      bool      `json:"not,omitempty"`
	Matcher  *Matcher  `json:"matcher"`
	// TimeoutMS is how long the condition may take to hold; 0: three seconds.
	TimeoutMS int `json:"timeoutMs,omitempty"`

	timeout *int     // that a call says, which becomes TimeoutMS
	ignored []string // as in Args
}

// Outcome is how a step ended, as the interface shows it.
type Outcome struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// Tool is what a step does.
type Tool struct {
	Type string `json:"type"`
	Args Args   `json:"args"`
}

// Args are the arguments of all tools; each has those beside its constant.
type Args struct {
	URL         string    `json:"url,omitempty"`
	Selector    *Selector `json:"selector,omitempty"`
	Target      *Selector `json:"target,omitempty"`
	Text        *string   `json:"text,omitempty"`
	OptionValue *string   `json:"optionValue,omitempty"`
	Matcher     *Matcher  `json:"matcher,omitempty"`
	Not         bool      `json:"not,omitempty"`
	Time        *int      `json:"time,omitempty"`
	Width       *int      `json:"width,omitempty"`
	Height      *int      `json:"height,omitempty"`
	Direction   string    `json:"direction,omitempty"` // up, down, left, right, top, bottom
	Key         string    `json:"key,omitempty"`       // a character or a name: Enter, Tab, Escape, ArrowDown, with modifiers as Control+a
	Action      string    `json:"action,omitempty"`    // accept, dismiss
	File        *File     `json:"file,omitempty"`
	Tool        *Tool     `json:"tool,omitempty"`
	GroupID     string    `json:"groupId,omitempty"`
	// With are the values of a group's parameters, by their names: texts, which may hold
	// variables.
	With Values `json:"with,omitempty"`

	// Of the steps on requests, responses and downloads. URL is a glob there, and so is
	// Name, which is that of a file.
	Method string  `json:"method,omitempty"`
	Status *int    `json:"status,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
	Abort  string  `json:"abort,omitempty"` // one of AbortReasons
	Change *Change `json:"change,omitempty"`
	Delay  *int    `json:"delay,omitempty"` // ms
	Times  *int    `json:"times,omitempty"` // after so many requests a route ends

	Reasoning string `json:"reasoning,omitempty"`
	// Files are several that upload_file uploads at once.
	Files []File `json:"files,omitempty"`
	Pointing
	StateArgs
	MobileArgs

	timeout *int // that a call says, which becomes the step's
	// ignored are paths below the arguments that a call has and that mean nothing.
	ignored []string
}

// Selector locates elements. Unless it says which of them by Index, an action or
// assertion fails when there are several (RunSettings.Strict).
type Selector struct {
	Type string `json:"type"` // one of the types below
	// Value is what the type looks for: a CSS selector, an XPath, a role, or a text.
	// Texts are compared without regard to case and white space and may be part of
	// the element's, unless Exact is set.
	Value string `json:"value"`
	// Name is the accessible name of an element of a role, compared as Value.
	Name  string `json:"name,omitempty"`
	Exact bool   `json:"exact,omitempty"` // the whole text, in this case
	// Level is that of a heading or tree item, for the type role; 0: any.
	Level int `json:"level,omitempty"`
	// State is what an element of a role must be or not be: checked, disabled,
	// expanded, pressed, selected.
	State map[string]bool `json:"state,omitempty"`
	// Within is the element that those found must be in; it follows the same rule on
	// several matches.
	Within *Selector `json:"within,omitempty"`
	// Has is what must be inside of an element, and HasText a text that must be.
	Has     *Selector `json:"has,omitempty"`
	HasText string    `json:"hasText,omitempty"`
	// Near and the others keep what lies so towards another element, the nearest first.
	Near    *Relation `json:"near,omitempty"`
	Below   *Relation `json:"below,omitempty"`
	Above   *Relation `json:"above,omitempty"`
	LeftOf  *Relation `json:"leftOf,omitempty"`
	RightOf *Relation `json:"rightOf,omitempty"`
	// Index is the position among the matches, from 0; -1 is the last one. It may be
	// written as nth.
	Index       *int         `json:"index,omitempty"`
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`

	// nth is set when it came with another number than Index.
	nth *int
}

// The types of selectors. CSS reaches into open shadow roots, as do those by role and
// text; XPath does not.
const (
	CSS         = "css"
	XPath       = "xpath"
	ByRole      = "role"        // value, name, level, state
	ByLabel     = "label"       // the label of a control, or its aria-label
	ByText      = "text"        // the innermost elements with the text
	Placeholder = "placeholder" // of a field
	TestID      = "testId"      // data-testid and its siblings; always the whole text
	AltText     = "altText"     // of an image
	Title       = "title"       // the attribute
)

// Fingerprint describes an element as it was when a step last found it.
type Fingerprint struct {
	Tag         string            `json:"tag,omitempty"`
	Role        string            `json:"role,omitempty"`
	Name        string            `json:"name,omitempty"` // accessible name
	TestID      string            `json:"testId,omitempty"`
	Label       string            `json:"label,omitempty"`
	Placeholder string            `json:"placeholder,omitempty"`
	Text        string            `json:"text,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"` // id, name, type, href, class ...
	// FramePath and ShadowPath are CSS selectors of the frames and shadow hosts
	// around the element, from outside in.
	FramePath  []string `json:"framePath,omitempty"`
	ShadowPath []string `json:"shadowPath,omitempty"`
	// Surroundings is what is around the element; nil: unknown.
	Surroundings *Surroundings `json:"surroundings,omitempty"`
}

// Matcher is what an assertion or switch_window compares.
type Matcher struct {
	Name string      `json:"name"`
	Args MatcherArgs `json:"args"`

	// fromString is set when it came as a string, which only switch_window allows.
	fromString bool
	// negated is set while the opposite of it is read, and wrong when it came as a call
	// whose arguments mean nothing.
	negated bool
	wrong   string
	// wrongAt is the path of what is wrong, below the arguments.
	wrongAt string
	// ignored are paths below the matcher that a call has and that mean nothing, until the
	// arguments or the condition take them.
	ignored []string
	// timeout is what a call says of how long it waits, in milliseconds, until the
	// arguments or the condition take it.
	timeout *int
	// ofPage is set while a call is read that looks at the page and not at an element.
	ofPage bool
}

// MatcherArgs are the arguments of all matchers. Value is a text; numbers and
// booleans are accepted and stored as text.
type MatcherArgs struct {
	Value string `json:"value,omitempty"`
	Name  string `json:"name,omitempty"` // of the attribute, or of the look, or a glob of a file's
	Mode  string `json:"mode,omitempty"`
	// Area and Key are of the matcher storage, Attributes of cookie.
	Area       string            `json:"area,omitempty"`
	Key        string            `json:"key,omitempty"`
	Attributes *CookieAttributes `json:"attributes,omitempty"`

	// Of the matchers on what the browser did.
	URL    string       `json:"url,omitempty"` // a glob
	Method string       `json:"method,omitempty"`
	Count  *int         `json:"count,omitempty"`
	Status *int         `json:"status,omitempty"`
	Body   *BodyCheck   `json:"body,omitempty"`
	Header *HeaderCheck `json:"header,omitempty"`
	Size   *int64       `json:"size,omitempty"`   // bytes
	Ignore []string     `json:"ignore,omitempty"` // RE2

	// Impact is the least impact of a finding that fails accessible; "" is DefaultImpact.
	Impact string `json:"impact,omitempty"`
	// Rules are the rules of axe-core that are checked, and no others; WithoutRules are
	// left out. Tags choose rules by their tags (wcag2aa), in place of Rules.
	Rules        []string `json:"rules,omitempty"`
	WithoutRules []string `json:"withoutRules,omitempty"`
	Tags         []string `json:"tags,omitempty"`

	// FullPage is the whole document in place of what the window shows of it.
	FullPage bool `json:"fullPage,omitempty"`
	// Masks are what is painted over before pictures are compared; each may find several.
	Masks []Selector `json:"masks,omitempty"`
	// Threshold is the share of pixels (0 to 1) that may differ; nil is DefaultThreshold.
	Threshold *float64 `json:"threshold,omitempty"`
	// Sensitivity is how small a difference of colour makes a pixel differ, from 0 (none
	// does) to 1 (each does); nil is DefaultSensitivity.
	Sensitivity *float64 `json:"sensitivity,omitempty"`
}

// The modes of comparing.
const (
	Equals   = "equals"
	Contains = "contains"
	Matches  = "matches" // RE2
	AtLeast  = "at_least"
	AtMost   = "at_most"
)

// File is a small file that upload_file uploads to a page.
type File struct {
	Name    string `json:"name"`
	Content []byte `json:"content"` // Base64 in JSON
}
