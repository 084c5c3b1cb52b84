package record

import "debug/dwarf"

// scopeNames knows in which namespaces and classes the functions of a C++ unit stand. Most functions have a symbol
// that tells it; those that depend on a type without a name, such as that of a lambda expression, have none.
type scopeNames struct {
	debug    *dwarf.Data
	unit     dwarf.Offset
	prefixes map[dwarf.Offset]string // nil: not read yet
}

// prefix returns what stands before the name of a function.
func (n *scopeNames) prefix(function dwarf.Offset) string {
	if n.prefixes == nil {
		n.prefixes = map[dwarf.Offset]string{}
		r := n.debug.Reader()
		r.Seek(n.unit)
		if e, err := r.Next(); err == nil && e != nil && e.Children && isCPlusPlus(e) {
			n.read(r, "")
		}
	}
	return n.prefixes[function]
}

// isCPlusPlus tells the language of a unit, by the numbers of DWARF: C++98, 11, 14, 17, 20.
func isCPlusPlus(unit *dwarf.Entry) bool {
	switch language, _ := unit.Val(dwarf.AttrLanguage).(int64); language {
	case 0x04, 0x1a, 0x21, 0x2b, 0x2c:
		return true
	}
	return false
}

// read reads the children of an entry up to their end.
func (n *scopeNames) read(r *dwarf.Reader, prefix string) {
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		inside := prefix
		name, _ := e.Val(dwarf.AttrName).(string)
		switch e.Tag {
		case dwarf.TagSubprogram:
			if prefix != "" {
				n.prefixes[e.Offset] = prefix
			}
			if name != "" {
				inside += name + "::"
			}
		case dwarf.TagNamespace:
			if name == "" {
				name = "(anonymous namespace)"
			}
			inside += name + "::"
		case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType:
			if name == "" {
				name = "{lambda}" // what else has no name seldom has functions
			}
			inside += name + "::"
		case dwarf.TagLexDwarfBlock:
		default:
			if e.Children {
				r.SkipChildren()
			}
			continue
		}
		if e.Children {
			n.read(r, inside)
		}
	}
}
