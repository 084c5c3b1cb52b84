package tables

import (
	"encoding/json"
	"math"
	"strconv"

	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/dataset"
	"slackline/model/unit"
)

// Text is a cell that has no value for programs.
func Text(s string) table.Cell { return table.Cell{Text: s} }

// amount is a unit.Duration or a unit.Sum.
type amount interface {
	Short() string
	NS() string
	Seconds() string
}

// Time is a duration or a sum, rounded for people; its value is in nanoseconds.
func Time(d amount) table.Cell {
	return table.Cell{Text: d.Short(), Value: json.Number(d.NS())}
}

// ExactTime is a duration with all its digits; its value is in nanoseconds.
func ExactTime(d unit.Duration) table.Cell {
	return table.Cell{Text: d.String(), Value: json.Number(d.NS())}
}

// seconds is a duration or a sum as an exact decimal number of seconds.
func seconds(d amount) json.Number { return json.Number(d.Seconds()) }

// Count is a whole number.
func Count[T int | int64](n T) table.Cell {
	return table.Cell{Text: phrase.Grouped(n), Value: int64(n)}
}

// size is a number of bytes.
func size(n int64) table.Cell { return table.Cell{Text: unit.Size(n).Short(), Value: n} }

// Share is a part of a whole, with a bar as long as it.
func Share(share float64) table.Cell {
	if phrase.Finite(share) == nil {
		return Text("-")
	}
	return table.Cell{Text: phrase.Percent(share, 1), Value: share, Share: min(max(share, 0), 1)}
}

// Number is a number with four digits.
func Number(v float64) table.Cell {
	if phrase.Finite(v) == nil {
		return Text("-")
	}
	return table.Cell{Text: strconv.FormatFloat(v, 'g', 4, 64), Value: v}
}

// Measured is a measured value in its unit.
func Measured(v float64, of string) table.Cell {
	c := Number(v)
	switch {
	case c.Value == nil:
	case of == "s" && math.Abs(v) < 1e6:
		c.Text = unit.Duration(math.Round(v * float64(unit.Second))).Short()
	case of == "B" && v >= 0 && v < 1e18:
		c.Text = unit.Size(math.Round(v)).Short()
	case of != "":
		c.Text += " " + of
	}
	return c
}

// Path is the name of a call path.
func Path(name string) table.Cell {
	switch name {
	case "":
		return table.Cell{Text: "(no call)", Value: ""}
	case dataset.RootPath:
		return table.Cell{Text: "(the whole run)", Value: name}
	}
	return table.Cell{Text: name, Value: name}
}
