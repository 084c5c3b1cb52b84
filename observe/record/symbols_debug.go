package record

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// unit is a compilation unit; its functions are read when an address in it is asked for.
type unit struct {
	ranges    [][2]uint64
	offset    dwarf.Offset
	read      bool
	functions []scope
}

// scope is a function, or one that was inlined into the scope around it.
type scope struct {
	function
	ranges [][2]uint64
	inside []scope
}

func covers(ranges [][2]uint64, address uint64) bool {
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return address >= r[0] && address < r[1] })
}

// readDebug lists the units of the debug information; without any, symbols must do.
func (m *module) readDebug(f *elf.File) {
	d, err := f.DWARF()
	if err != nil || f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return
	}
	m.debug = d
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		r.SkipChildren()
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := d.Ranges(e)
		if err != nil || len(ranges) == 0 {
			continue
		}
		m.units = append(m.units, &unit{ranges: ranges, offset: e.Offset})
	}
}

// byDebug finds the functions at an address in the debug information, outermost first.
func (m *module) byDebug(address uint64) []function {
	for _, u := range m.units {
		if !covers(u.ranges, address) {
			continue
		}
		if !u.read {
			u.read = true
			m.readUnit(u)
		}
		for i := range u.functions {
			if s := &u.functions[i]; covers(s.ranges, address) {
				return s.pathTo(address, nil)
			}
		}
	}
	return nil
}

func (s *scope) pathTo(address uint64, path []function) []function {
	if again := len(path) > 0 && path[len(path)-1].name == s.name; s.name != "" && !again { // in itself: a part of it
		path = append(path, s.function)
	}
	for i := range s.inside {
		if covers(s.inside[i].ranges, address) {
			return s.inside[i].pathTo(address, path)
		}
	}
	return path
}

// readUnit reads the functions of a unit.
func (m *module) readUnit(u *unit) {
	r := m.debug.Reader()
	r.Seek(u.offset)
	e, err := r.Next()
	if err != nil || e == nil || !e.Children {
		return
	}
	w := unitReader{m: m, r: r, names: &scopeNames{debug: m.debug, unit: u.offset}}
	if lines, err := m.debug.LineReader(e); err == nil && lines != nil {
		w.files = lines.Files()
	}
	u.functions = append(w.scopes(), w.nested...)
	slices.SortStableFunc(u.functions, func(a, b scope) int { return cmp.Compare(first(a.ranges), first(b.ranges)) })
}

func first(ranges [][2]uint64) uint64 {
	if len(ranges) == 0 {
		return 0
	}
	return ranges[0][0]
}

type unitReader struct {
	m      *module
	r      *dwarf.Reader
	files  []*dwarf.LineFile
	names  *scopeNames
	nested []scope // functions that stand in others, and are none of their code
	depth  int
}

// scopes reads the children of an entry up to their end. Blocks that are no functions give what they contain. Functions
// in functions have code of their own: the bodies of parallel regions, Fortran's internal procedures.
func (w *unitReader) scopes() []scope {
	var list []scope
	for {
		e, err := w.r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return list
		}
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			s := scope{}
			s.ranges, _ = w.m.debug.Ranges(e)
			if len(s.ranges) > 0 {
				s.function = w.describe(e, 0)
			}
			if e.Children {
				w.depth++
				s.inside = w.scopes()
				w.depth--
			}
			switch {
			case len(s.ranges) == 0:
			case e.Tag == dwarf.TagSubprogram && w.depth > 0:
				w.nested = append(w.nested, s)
			default:
				list = append(list, s)
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, dwarf.TagModule:
			if e.Children {
				list = append(list, w.scopes()...)
			}
		default:
			if e.Children {
				w.r.SkipChildren()
			}
		}
	}
}

// describe finds name and place of a function, which may stand with its declaration.
func (w *unitReader) describe(e *dwarf.Entry, depth int) function {
	var f function
	if linkage, ok := e.Val(dwarf.AttrLinkageName).(string); ok && strings.HasPrefix(linkage, "_Z") {
		f.name = demangle.Filter(linkage, demangle.NoParams, demangle.NoEnclosingParams)
	} else if name, ok := e.Val(dwarf.AttrName).(string); ok {
		f.name = w.names.prefix(e.Offset) + name
	}
	f.main, _ = e.Val(dwarf.AttrMainSubprogram).(bool)
	if number, ok := e.Val(dwarf.AttrDeclFile).(int64); ok && number >= 0 && int(number) < len(w.files) && w.files[number] != nil {
		f.file = w.files[number].Name
	}
	if line, ok := e.Val(dwarf.AttrDeclLine).(int64); ok {
		f.line = int(line)
	}
	const mostSteps = 4
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		offset, ok := e.Val(attr).(dwarf.Offset)
		if !ok || depth >= mostSteps {
			continue
		}
		r := w.m.debug.Reader()
		r.Seek(offset)
		if origin, err := r.Next(); err == nil && origin != nil {
			g := w.describe(origin, depth+1)
			f.name, f.main = cmp.Or(g.name, f.name), f.main || g.main
			f.file, f.line = cmp.Or(f.file, g.file), cmp.Or(f.line, g.line)
		}
	}
	return f
}
