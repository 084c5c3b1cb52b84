package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/tables"
)

// What continuous integration reads: JUnit XML, a Markdown summary, annotations
// in the log (GitHub, Azure) and a code quality report (GitLab).

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Name    string       `xml:"name,attr"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a test suite for each dataset. What is inconclusive, expected
// to fail, or a litmus test is skipped, with its reason.
func (r *Report) writeJUnit(w io.Writer) {
	all := junitSuites{Name: "scaling"}
	for _, column := range r.columns {
		suite := junitSuite{Name: "scaling"}
		if column.label != "" {
			suite.Name += " " + column.label
		}
		for _, x := range r.results() {
			if x.Label == column.label {
				suite.add(&x, r.strict)
			}
		}
		all.Suites = append(all.Suites, suite)
	}
	io.WriteString(w, xml.Header)
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	_ = e.Encode(all) // it has nothing that XML cannot hold
	io.WriteString(w, "\n")
}

func (s *junitSuite) add(x *tables.Verdict, strict bool) {
	c := junitCase{Class: x.Kind, Name: plainXML(title(x)), Output: plainXML(x.Formula)}
	message := &junitMessage{Message: plainXML(x.Explanation()), Text: plainXML(sentence(x))}
	s.Tests++
	switch {
	case x.Outcome.Counts() == scaling.Fail, strict && x.Outcome.UnexpectedPass():
		c.Failure = message
		s.Failures++
	case x.Outcome.Verdict != scaling.Pass:
		c.Skipped = message
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// plainXML replaces what XML cannot hold.
func plainXML(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0xFFFE || c == 0xFFFF {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
}

// title names the check.
func title(x *tables.Verdict) string {
	if x.Kind == "rule" {
		return x.Name
	}
	return strings.TrimSpace(x.Name+" "+x.Metric) + ": " + x.Expect
}

// sentence says the verdict in words.
func sentence(x *tables.Verdict) string {
	text := fmt.Sprintf("%s: %s", title(x), x.Outcome.Status())
	if x.Formula != "" {
		text += fmt.Sprintf("; found %s, %s, match %s", x.Found, x.Formula, x.Rank)
	}
	if why := x.Explanation(); why != "" {
		text += "; " + why
	}
	return text
}

// writeMarkdown writes a summary for a page of a merge request.
func (r *Report) writeMarkdown(w io.Writer) {
	fmt.Fprintf(w, "## Scaling: %s\n\n", r.summary())
	r.table().WriteMarkdown(w, "data", "function", "metric")
	for _, line := range r.remarks() {
		fmt.Fprintf(w, "\n%s\n", table.Markdown(line))
	}
}

// file is the expectation file, and place the line of a verdict in it.
func (r *Report) file() string {
	if r.Expectations != nil {
		return r.Expectations.File
	}
	return r.options.baseline
}

// severity is error, warning or nothing.
func severity(x *tables.Verdict, strict bool) string {
	switch {
	case x.Outcome.Counts() == scaling.Fail, strict && x.Outcome.UnexpectedPass():
		return "error"
	case x.Outcome.Counts() == scaling.Inconclusive, x.Outcome.UnexpectedPass(), x.Outcome.Litmus && x.Outcome.Verdict != scaling.Pass &&
		x.Outcome.Verdict != scaling.Skipped:
		return "warning"
	}
	return ""
}

// writeAnnotations writes a line for each verdict that is not fine, as the log of
// the system wants it.
func (r *Report) writeAnnotations(w io.Writer, format string) {
	for _, x := range r.results() {
		level := severity(&x, r.strict)
		if level == "" {
			continue
		}
		line := max(x.Outcome.Line, 1)
		if format == formatGitHub {
			fmt.Fprintf(w, "::%s file=%s,line=%d,title=%s::%s\n", level, githubProperty(r.file()), line,
				githubProperty("scaling: "+x.Outcome.Status()), githubText(sentence(&x)))
		} else {
			fmt.Fprintf(w, "##vso[task.logissue type=%s;sourcepath=%s;linenumber=%d]%s\n", level, azureProperty(r.file()), line,
				phrase.OneLine(sentence(&x)))
		}
	}
	fmt.Fprintln(w, r.summary())
}

func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}

func azureProperty(s string) string {
	return strings.NewReplacer(";", "%3B", "]", "%5D", "\r", "%0D", "\n", "%0A").Replace(s)
}

type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// writeGitLab writes a code quality report.
func (r *Report) writeGitLab(w io.Writer) {
	issues := []gitlabIssue{}
	for _, x := range r.results() {
		severity := map[string]string{"error": "major", "warning": "minor"}[severity(&x, r.strict)]
		if severity == "" {
			continue
		}
		sum := sha256.Sum256([]byte(x.Label + "\n" + x.Kind + "\n" + title(&x)))
		issues = append(issues, gitlabIssue{
			Description: sentence(&x), CheckName: "scaling-" + x.Kind, Fingerprint: hex.EncodeToString(sum[:16]), Severity: severity,
			Location: gitlabLocation{r.file(), gitlabLines{max(x.Outcome.Line, 1)}},
		})
	}
	_ = env.WriteJSONObject(w, issues) // it has nothing that JSON cannot hold
}
