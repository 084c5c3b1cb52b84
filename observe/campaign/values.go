package campaign

import (
	"fmt"
	"math"

	"slackline/model/unit"
)

// maxValues is how many values a parameter may have.
const maxValues = 10_000

// parseValues reads the values of a parameter: a list of numbers above 0, such as 1..8, 100..500 step 100 or 2^1..2^10.
func parseValues(text string) ([]float64, error) {
	list, err := unit.ParseNumbers(text)
	if err == nil && len(list) > maxValues {
		err = fmt.Errorf("expected at most %d values, got %d from %q", maxValues, len(list), text)
	}
	for _, x := range list {
		if !(x > 0) || x > math.MaxFloat64 {
			return nil, fmt.Errorf("expected values above 0, got %q", text)
		}
	}
	return list, err
}
