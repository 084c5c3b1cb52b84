package phrase

import (
	"fmt"
	"math"
	"strconv"

	"slackline/internal/table"
)

// PercentCell is a percentage that may be far below 0.1, such as that of noise: with three digits. Percent prints shares of a whole.
func PercentCell(percent float64) table.Cell {
	return table.Cell{Text: fmt.Sprintf("%.3g %%", percent), Value: percent}
}

func RateCell(perSecond float64) table.Cell {
	text := fmt.Sprintf("%.4gHz", perSecond)
	if perSecond >= 9999.5 { // four digits of it would be 1e+04
		text = fmt.Sprintf("%.0fHz", perSecond)
	}
	return table.Cell{Text: text, Value: perSecond}
}

// NumberCell is a number for people and programs; what is none is "-".
func NumberCell(v float64, format string) table.Cell {
	if Finite(v) == nil {
		return table.Cell{Text: "-", Value: nil}
	}
	return table.Cell{Text: fmt.Sprintf(format, v), Value: v}
}

// Interval prints where a value may be. An end that no number can express is left out.
func Interval(low, high float64) string {
	switch hasLow, hasHigh := Finite(low) != nil, Finite(high) != nil; {
	case hasLow && hasHigh:
		return fmt.Sprintf("%.4g..%.4g", low, high)
	case hasLow:
		return fmt.Sprintf("%.4g or more", low)
	case hasHigh:
		return fmt.Sprintf("%.4g or less", high)
	}
	return "-"
}

func WallCell(v float64) table.Cell {
	switch {
	case math.IsInf(v, 1):
		return table.Cell{Text: "none", Value: nil}
	case v == 0:
		return table.Cell{Text: "below 1", Value: 0}
	}
	return table.Cell{Text: strconv.FormatFloat(v, 'f', -1, 64), Value: v}
}
