package plot

import "image/color"

// theme holds the colors of a figure.
type theme struct {
	ground color.NRGBA // under everything
	ink    color.NRGBA // titles, axes, neutral data
	muted  color.NRGBA // labels, captions
	faint  color.NRGBA // grid lines
	slots  []look      // what automatic series take in turn
	spans  [spanKinds]spanLook
}

// look is how one series is drawn: color, dash and marker each distinguish it.
type look struct {
	color  color.NRGBA
	dash   []float64
	marker marker
}

// Neutral is the slot of reference data: drawn in the color of the axes.
const Neutral = -1

// The colors of Okabe and Ito.
var (
	okabeOrange     = rgb(0xE69F00)
	okabeSky        = rgb(0x56B4E9)
	okabeGreen      = rgb(0x009E73)
	okabeYellow     = rgb(0xF0E442)
	okabeBlue       = rgb(0x0072B2)
	okabeVermillion = rgb(0xD55E00)
	okabePurple     = rgb(0xCC79A7)
)

var lightTheme = theme{
	ground: rgb(0xFFFFFF),
	ink:    rgb(0x1A1A1A),
	muted:  rgb(0x555555),
	faint:  rgb(0xE4E4E4),
	slots:  slotLooks(okabeBlue, okabeVermillion, okabeGreen, okabeOrange, okabePurple, okabeSky, rgb(0x5A5A5A)),
	spans: [spanKinds]spanLook{
		Compute: {fill: rgb(0xDADADA), edge: rgb(0xA8A8A8)},
		Blocked: {fill: rgb(0xFFFFFF), edge: rgb(0x7A7A7A), hatch: rgb(0x9A9A9A)},
		Send:    {fill: okabeBlue, edge: rgb(0x004E7A)},
		Receive: {fill: okabeOrange, edge: rgb(0x9A6A00)},
		Noise:   {fill: okabeVermillion, edge: rgb(0x8A3C00), hatch: rgb(0xFFE3D1)},
	},
}

// Blue is too dark on a dark ground and yellow stands out there, unlike on white.
var darkTheme = theme{
	ground: rgb(0x15181D),
	ink:    rgb(0xECECEC),
	muted:  rgb(0xB0B4BA),
	faint:  rgb(0x343A43),
	slots:  slotLooks(okabeSky, okabeOrange, okabeGreen, okabePurple, okabeYellow, okabeVermillion, rgb(0xA6A6A6)),
	spans: [spanKinds]spanLook{
		Compute: {fill: rgb(0x4A515C), edge: rgb(0x6E7682)},
		Blocked: {fill: rgb(0x15181D), edge: rgb(0x9AA1AB), hatch: rgb(0x7A828D)},
		Send:    {fill: rgb(0x2E86C8), edge: rgb(0x9FD0F2)}, // the sky blue is as bright as the orange
		Receive: {fill: okabeOrange, edge: rgb(0xFFD37A)},
		Noise:   {fill: okabeVermillion, edge: rgb(0xFFA366), hatch: rgb(0x3A1A00)},
	},
}

// spanLook is how one kind of span of a message diagram is drawn.
type spanLook struct {
	fill, edge color.NRGBA
	hatch      color.NRGBA // alpha 0: none
}

// slotLooks pairs colors with dashes and markers that differ as much as the colors do.
func slotLooks(colors ...color.NRGBA) []look {
	dashes := [][]float64{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {12, 3}, {1, 2}}
	markers := []marker{disc, square, triangle, diamond, cross, ring, plus}
	looks := make([]look, len(colors))
	for i, c := range colors {
		looks[i] = look{color: c, dash: dashes[i%len(dashes)], marker: markers[i%len(markers)]}
	}
	return looks
}

// look returns the look of a slot. Slots count from 1 and repeat.
func (th *theme) look(slot int) look {
	if slot == Neutral {
		return look{color: th.ink, dash: []float64{5, 3}, marker: plus}
	}
	return th.slots[max(slot-1, 0)%len(th.slots)]
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// fade returns the color with the given share of its opacity.
func fade(c color.NRGBA, share float64) color.NRGBA {
	c.A = uint8(float64(c.A)*share + 0.5)
	return c
}
