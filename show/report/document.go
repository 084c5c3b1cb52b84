package report

import (
	"slackline/analyze/waits"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/show/plot"
)

// Document is the report as data. Texts are for people; names of functions, files and commands are between
// backquotes in them.
type Document struct {
	Title      string             `json:"title"`
	Subtitle   string             `json:"subtitle"`
	Summary    []string           `json:"summary"` // three sentences for a reader in a hurry
	Fix        *Fix               `json:"fix,omitempty"`
	Sections   []*Section         `json:"sections"`
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

// Fix is the most valuable fix: the first of the changes that pay.
type Fix struct {
	Text    string  `json:"text"`
	Change  string  `json:"change"`   // as --change takes it
	Path    string  `json:"callpath"` // where it is made; empty: everywhere
	Gain    float64 `json:"gain"`     // share of the run time
	Command string  `json:"command"`
}

// Section answers one question.
type Section struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Question string   `json:"question"`
	Missing  *Missing `json:"missing,omitempty"` // why there is nothing; nil: there is
	Blocks   []Block  `json:"content,omitempty"`
}

// Missing is why something is not there, and the command that would provide it.
type Missing struct {
	Why     string `json:"why"`
	Command string `json:"command,omitempty"`
}

// Block is one piece of a section: exactly one of its members is set.
type Block struct {
	Text   string       `json:"text,omitempty"`
	Doubt  string       `json:"doubt,omitempty"` // what to know before relying on the rest
	Head   string       `json:"heading,omitempty"`
	Facts  []Fact       `json:"facts,omitempty"`
	Meters []Meter      `json:"meters,omitempty"`
	Shares *Shares      `json:"shares,omitempty"`
	Story  []Sentence   `json:"story,omitempty"`
	Table  *table.Table `json:"table,omitempty"`
	Figure *Figure      `json:"figure,omitempty"`
}

// Fact is something that is known about a run.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Meter is a share that should be near 1.
type Meter struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Meaning string  `json:"meaning"`
	Depth   int     `json:"depth"` // it is a factor of the last one before it that is one less deep
}

// Shares is what a whole consists of.
type Shares struct {
	Title   string  `json:"title"`
	Command string  `json:"command"`
	Parts   []Share `json:"parts"`
}

// Share is a part of a whole.
type Share struct {
	Name  string  `json:"name"`
	Kind  string  `json:"kind"` // decides the color
	Text  string  `json:"text"`
	Share float64 `json:"share"`

	color waits.Color // of a wait state or a kind of activity, as in all views
}

// Sentence is a part of an explanation; those that explain others are deeper.
type Sentence struct {
	Depth int    `json:"depth"`
	Text  string `json:"text"`
}

// Figure is a picture with its data and the command that makes it again.
type Figure struct {
	ID      string       `json:"id"`
	Title   string       `json:"title"`
	Caption string       `json:"caption"`
	Command string       `json:"command"`
	Data    *table.Table `json:"data"`

	draw func(width float64) plot.Figure
}

// maxRows is how many rows of a table are in a report: a page with all ranks of a large run would be of no use.
const maxRows = 512

// newTable is an empty table of at most maxRows rows.
func newTable(title, command string, columns ...table.Column) *table.Table {
	return &table.Table{Title: title, Command: command, Columns: columns, Limit: maxRows}
}

func left(title string) table.Column { return table.Column{Key: title, Title: title} }
func right(title string) table.Column {
	return table.Column{Key: title, Title: title, Align: table.Right}
}

// say appends a paragraph.
func (s *Section) say(text string) { s.Blocks = append(s.Blocks, Block{Text: text}) }

// doubt appends what to know before relying on the rest.
func (s *Section) doubt(text string) { s.Blocks = append(s.Blocks, Block{Doubt: text}) }

func (s *Section) head(text string) { s.Blocks = append(s.Blocks, Block{Head: text}) }

func (s *Section) table(t *table.Table) {
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, Block{Table: t})
	}
}

// titled appends a table under a title, with the command that shows all of it.
func (s *Section) titled(title, command string, t *table.Table) {
	t.Title, t.Command = title, command
	s.table(t)
}

// figure appends a figure, if there is one.
func (s *Section) figure(f *Figure) {
	if f != nil {
		s.Blocks = append(s.Blocks, Block{Figure: f})
	}
}
