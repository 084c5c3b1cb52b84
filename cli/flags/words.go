package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Words are flags as they were given, for commands that show the same.
func Words(c *cobra.Command, names ...string) []string {
	var words []string
	for _, name := range names {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		switch value := f.Value.(type) {
		case pflag.SliceValue:
			for _, v := range value.GetSlice() {
				words = append(words, "--"+name, v)
			}
		case severalTimes:
			for _, v := range value.Each() {
				words = append(words, "--"+name, v)
			}
		default:
			if f.NoOptDefVal != "" {
				words = append(words, "--"+name+"="+f.Value.String())
			} else {
				words = append(words, "--"+name, f.Value.String())
			}
		}
	}
	return words
}
