package env

import (
	"strings"
)

const VariablePrefix = "SLACKLINE_"

func VariableOf(name string) string {
	return VariablePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
