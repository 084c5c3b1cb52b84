// Package onekey finds keys that an object of a JSON text has twice. Decoders take the last of them without a word, so that a copied
// or merged line would replace another one's value.
package onekey

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Check refuses a text with a key twice in one object; the error names the line. Whether the rest is JSON is for a decoder to say.
func Check(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []map[string]bool // objects with their keys; nil: a list
	key := false               // comes next
	for {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			key = true
		case string:
			if last := len(open) - 1; key && last >= 0 && open[last] != nil {
				if open[last][t] {
					return fmt.Errorf("line %d: the key %q is there twice in one object", 1+bytes.Count(data[:d.InputOffset()], []byte{'\n'}), t)
				}
				open[last][t] = true
				key = false
				continue
			}
			key = true
		default:
			key = true
		}
	}
}
