package export

import "slices"

// JavaImports are the classes of Java that the code names, in their order.
func (f frame) JavaImports() []string {
	return f.imports([]importRule{
		{"java.io.IOException", f.Uses("upload")},
		{"java.io.UncheckedIOException", f.Uses("upload")},
		{"java.net.MalformedURLException", true},
		{"java.net.URI", true},
		{"java.nio.file.Files", f.Uses("upload")},
		{"java.nio.file.Path", f.Uses("upload")},
		{"java.time.Duration", true},
		{"java.util.ArrayDeque", f.Finds()},
		{"java.util.ArrayList", f.Performs() || f.Uses("switchWindow")},
		{"java.util.Arrays", f.Browser.Prefix != "" || f.Uses("press", "pressOn")},
		{"java.util.Base64", f.Uses("upload")},
		{"java.util.Collections", f.Uses("switchWindow")},
		{"java.util.Deque", f.Finds()},
		{"java.util.HashMap", f.HasRows()},
		{"java.util.LinkedHashMap", f.Uses("state")},
		{"java.util.List", f.Finds() || f.Uses("switchWindow", "setViewport")},
		{"java.util.Locale", f.Uses("by:role")},
		{"java.util.Map", f.HasRows() || f.Uses("by:role", "scroll", "drag") || f.Dialogs() && f.Chromium()},
		{"java.util.Objects", f.Uses("orEmpty", "scroll")},
		{"java.util.function.BooleanSupplier", f.Uses("switchWindow")},
		{"java.util.function.Consumer", f.Performs()},
		{"java.util.regex.Pattern", f.Uses("assertMatches", "assertDiffers", "testId", "by:role")},
		{"java.util.stream.Collectors", f.Finds()},
		{"java.util.stream.Stream", f.Finds() || f.HasRows()},
	})
}

// LibraryImports are the classes of JUnit and Selenium that the code names, in their
// order.
func (f frame) LibraryImports() []string {
	browser := "org.openqa.selenium." + f.Browser.Module + "." + f.Browser.Class
	return f.imports([]importRule{
		{"org.junit.jupiter.api.AfterEach", true},
		{"org.junit.jupiter.api.BeforeEach", true},
		{"org.junit.jupiter.api.DisplayName", true},
		{"org.junit.jupiter.api.Named", f.HasRows()},
		{"org.junit.jupiter.api.Test", !f.HasRows()},
		{"org.junit.jupiter.api.function.Executable", f.Repeats()},
		{"org.junit.jupiter.api.io.TempDir", f.Uses("upload")},
		{"org.junit.jupiter.params.ParameterizedTest", f.HasRows()},
		{"org.junit.jupiter.params.provider.MethodSource", f.HasRows()},
		{"org.openqa.selenium.Dimension", f.Uses("setViewport")},
		{"org.openqa.selenium.InvalidElementStateException", f.Performs()},
		{"org.openqa.selenium.JavascriptExecutor", f.Finds() || f.Uses("setViewport")},
		{"org.openqa.selenium.Keys", f.Uses("Keys", "typeInto", "typeKeys")},
		{"org.openqa.selenium.NoAlertPresentException", f.Dialogs()},
		{"org.openqa.selenium.NoSuchElementException", f.Performs()},
		{"org.openqa.selenium.NoSuchWindowException", f.Uses("switchToNewWindow", "switchToWindow", "switchWindow", "inFrame")},
		{"org.openqa.selenium.PageLoadStrategy", true},
		{"org.openqa.selenium.StaleElementReferenceException", f.Performs()},
		{"org.openqa.selenium.UnexpectedAlertBehaviour", !(f.Dialogs() && f.Chromium())},
		{"org.openqa.selenium.UnhandledAlertException", f.Performs() || f.Dialogs() || f.Uses("inFrame", "load")},
		{"org.openqa.selenium.WebDriver", true},
		{"org.openqa.selenium.WebDriverException", f.Finds() || f.Repeats() || f.Uses("optional", "holds")},
		{"org.openqa.selenium.WebElement", f.Finds()},
		{browser + "Driver", true},
		{browser + "Options", true},
		{"org.openqa.selenium.interactions.Actions", f.Uses("click", "hover", "drag", "press", "pressOn", "typeInto",
			"typeKeys", "doubleClick", "rightClick", "scroll")},
		{"org.openqa.selenium.interactions.MoveTargetOutOfBoundsException", f.Performs()},
		{"org.openqa.selenium.interactions.WheelInput", f.Uses("scroll")},
		{"org.openqa.selenium.remote.LocalFileDetector", true},
		{"org.openqa.selenium.remote.RemoteWebDriver", true},
	})
}

// importRule is a class and whether the code names it.
type importRule struct {
	class string
	used  bool
}

func (f frame) imports(rules []importRule) []string {
	var list []string
	for _, r := range rules {
		if r.used {
			list = append(list, r.class)
		}
	}
	return list
}

// HasRows reports whether the test is run for each data row.
func (f frame) HasRows() bool { return len(f.Rows) > 0 }

// maxCells is how many values of data rows one method of Java makes: each takes 7 bytes of its
// 64 KiB of code.
const maxCells = 5000

// RowParts are the data rows by the methods that make them.
func (f frame) RowParts() [][]string {
	return slices.Collect(slices.Chunk(f.Rows, max(1, maxCells/max(1, len(f.Columns)))))
}

// MoreRows is the number of the part of data rows behind one; 0 for the last.
func (f frame) MoreRows(part int) int {
	if part+1 < len(f.RowParts()) {
		return part + 1
	}
	return 0
}
