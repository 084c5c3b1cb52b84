package plot

import (
	"encoding/binary"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
)

// This file reads the outlines and widths of the Go fonts, which are TrueType. It handles what
// these two fonts contain and no more: the general reader of golang.org/x/image would bring in
// golang.org/x/text. A test reads every glyph.

// The fonts of PNG files.
var (
	regularFace = sync.OnceValue(func() *face { return readFace(goregular.TTF) })
	boldFace    = sync.OnceValue(func() *face { return readFace(gobold.TTF) })
)

// face is a font, read once.
type face struct {
	glyphs   map[rune]uint16
	advances []uint16 // by glyph, in units of the em
	em       float64
	loca     []uint32
	glyf     []byte
}

// outlinePoint is a point of a glyph's contour: on the curve, or a control point beside it.
type outlinePoint struct {
	x, y float64 // units of the em, y upwards
	on   bool
}

// faceFor returns the font of a text.
func faceFor(bold bool) *face {
	if bold {
		return boldFace()
	}
	return regularFace()
}

// widestFont is how much wider than ours the widest of the usual system fonts is (DejaVu Sans).
const widestFont = 1.18

// textRoom returns the room that the layout leaves for a text. An SVG file is shown in a font of
// the reader's, so it is more than the text needs in ours.
func textRoom(s string, size float64, bold bool) float64 {
	return widestFont * textWidth(s, size, bold)
}

// textWidth returns the length of a text in our font.
func textWidth(s string, size float64, bold bool) float64 {
	f := faceFor(bold)
	sum := 0.0
	for _, r := range s {
		sum += f.advance(r)
	}
	return sum * size / f.em
}

// advance returns the width of a character. A character that the font lacks counts as a full em,
// which is the width of an ideograph.
func (f *face) advance(r rune) float64 {
	g, ok := f.glyphs[r]
	if !ok {
		return f.em
	}
	return float64(f.advances[g])
}

var be = binary.BigEndian

func readFace(ttf []byte) *face {
	tables := map[string][]byte{}
	for i := range int(be.Uint16(ttf[4:])) {
		record := ttf[12+16*i:]
		offset, length := be.Uint32(record[8:]), be.Uint32(record[12:])
		tables[string(record[:4])] = ttf[offset : offset+length]
	}
	f := &face{
		em:     float64(be.Uint16(tables["head"][18:])),
		glyf:   tables["glyf"],
		glyphs: readCharacters(tables["cmap"]),
	}
	count := int(be.Uint16(tables["maxp"][4:]))
	longOffsets := be.Uint16(tables["head"][50:]) == 1
	for i := range count + 1 {
		if longOffsets {
			f.loca = append(f.loca, be.Uint32(tables["loca"][4*i:]))
		} else {
			f.loca = append(f.loca, 2*uint32(be.Uint16(tables["loca"][2*i:])))
		}
	}
	// The last of the listed widths holds for all glyphs after it.
	listed := int(be.Uint16(tables["hhea"][34:]))
	for i := range count {
		f.advances = append(f.advances, be.Uint16(tables["hmtx"][4*min(i, listed-1):]))
	}
	return f
}

// readCharacters reads the character map of the Unicode plane 0 (format 4).
func readCharacters(cmap []byte) map[rune]uint16 {
	glyphs := map[rune]uint16{}
	for i := range int(be.Uint16(cmap[2:])) {
		record := cmap[4+8*i:]
		table := cmap[be.Uint32(record[4:]):]
		if be.Uint16(record) != 3 || be.Uint16(record[2:]) != 1 || be.Uint16(table) != 4 {
			continue
		}
		segments := int(be.Uint16(table[6:])) / 2
		ends, starts := table[14:], table[16+2*segments:]
		deltas, offsets := table[16+4*segments:], table[16+6*segments:]
		for s := range segments {
			first, last := be.Uint16(starts[2*s:]), be.Uint16(ends[2*s:])
			delta, offset := be.Uint16(deltas[2*s:]), int(be.Uint16(offsets[2*s:]))
			for r := int(first); r <= int(last) && r < 0xFFFF; r++ {
				g := uint16(r)
				if offset != 0 {
					g = be.Uint16(offsets[2*s+offset+2*(r-int(first)):])
					if g == 0 {
						continue
					}
				}
				if g += delta; g != 0 {
					glyphs[rune(r)] = g
				}
			}
		}
	}
	return glyphs
}

// outline returns the contours of a glyph. Glyph 0 is the box for missing characters.
func (f *face) outline(glyph uint16) [][]outlinePoint {
	data := f.glyf[f.loca[glyph]:f.loca[glyph+1]]
	if len(data) == 0 {
		return nil // a space
	}
	if contours := int16(be.Uint16(data)); contours >= 0 {
		return simpleOutline(data[10:], int(contours))
	}
	return f.compositeOutline(data[10:])
}

func simpleOutline(data []byte, contours int) [][]outlinePoint {
	ends := make([]int, contours)
	for i := range ends {
		ends[i] = int(be.Uint16(data[2*i:]))
	}
	data = data[2*contours:]
	data = data[2+int(be.Uint16(data)):] // skip the hinting program
	if contours == 0 {
		return nil
	}
	flags := make([]byte, 0, ends[contours-1]+1)
	for len(flags) < cap(flags) {
		flag := data[0]
		data = data[1:]
		flags = append(flags, flag)
		if flag&8 != 0 { // repeated
			for range data[0] {
				flags = append(flags, flag)
			}
			data = data[1:]
		}
	}
	points := make([]outlinePoint, len(flags))
	coordinates := func(short, same byte, set func(p *outlinePoint, v float64)) {
		v := 0
		for i, flag := range flags {
			switch {
			case flag&short != 0:
				d := int(data[0])
				data = data[1:]
				if flag&same == 0 {
					d = -d
				}
				v += d
			case flag&same == 0:
				v += int(int16(be.Uint16(data)))
				data = data[2:]
			}
			set(&points[i], float64(v))
		}
	}
	coordinates(2, 16, func(p *outlinePoint, v float64) { p.x = v })
	coordinates(4, 32, func(p *outlinePoint, v float64) { p.y = v })
	for i, flag := range flags {
		points[i].on = flag&1 != 0
	}
	var result [][]outlinePoint
	start := 0
	for _, end := range ends {
		result = append(result, points[start:end+1])
		start = end + 1
	}
	return result
}

// compositeOutline joins other glyphs, shifted and scaled: letters with accents.
func (f *face) compositeOutline(data []byte) [][]outlinePoint {
	const (
		words        = 1 << 0
		offsets      = 1 << 1
		oneScale     = 1 << 3
		more         = 1 << 5
		twoScales    = 1 << 6
		scaleAndTurn = 1 << 7
	)
	fraction := func(at int) float64 { return float64(int16(be.Uint16(data[at:]))) / (1 << 14) }
	var result [][]outlinePoint
	for {
		flags, glyph := be.Uint16(data), be.Uint16(data[2:])
		data = data[4:]
		var dx, dy float64
		if flags&words != 0 {
			dx, dy = float64(int16(be.Uint16(data))), float64(int16(be.Uint16(data[2:])))
			data = data[4:]
		} else {
			dx, dy = float64(int8(data[0])), float64(int8(data[1]))
			data = data[2:]
		}
		if flags&offsets == 0 {
			dx, dy = 0, 0 // joined at points: not used by these fonts
		}
		xx, xy, yx, yy := 1.0, 0.0, 0.0, 1.0
		switch {
		case flags&oneScale != 0:
			xx, yy = fraction(0), fraction(0)
			data = data[2:]
		case flags&twoScales != 0:
			xx, yy = fraction(0), fraction(2)
			data = data[4:]
		case flags&scaleAndTurn != 0:
			xx, xy, yx, yy = fraction(0), fraction(2), fraction(4), fraction(6)
			data = data[8:]
		}
		for _, contour := range f.outline(glyph) {
			moved := make([]outlinePoint, len(contour))
			for i, p := range contour {
				moved[i] = outlinePoint{x: xx*p.x + yx*p.y + dx, y: xy*p.x + yy*p.y + dy, on: p.on}
			}
			result = append(result, moved)
		}
		if flags&more == 0 {
			return result
		}
	}
}
